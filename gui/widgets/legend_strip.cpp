#include "gui/widgets/legend_strip.h"

#include <QMouseEvent>
#include <QPainter>
#include <algorithm>
#include <array>

#include "gui/paint/colour.h"
#include "gui/paint/text_of.h"

namespace tutti::gui {

namespace {

constexpr int kMargin = 8, kSwatch = 14, kGap = 5, kBetween = 14;

QString name_of(int kind) { return text_of(core::span_name(kind)); }

}  // namespace

LegendStrip::LegendStrip(QWidget* parent) : QWidget(parent), theme_(&light_theme()) {
  setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
  setAccessibleName(tr("Legend"));
}

/// Adds up the times of each kind. Cost: linear in the number of spans.
void LegendStrip::show_trace(const std::shared_ptr<const Trace>& trace) {
  std::array<double, 256> times{};
  std::array<bool, 256> has{};
  waits_ = false;
  for (const Trace::Row& row : trace ? trace->rows() : std::vector<Trace::Row>()) {
    for (SpanRow::Index i = 0; i < row.spans.size(); ++i) {
      const auto kind = static_cast<std::uint8_t>(row.spans.kind(i));
      has[kind] = true;
      times[kind] += static_cast<double>(row.spans.duration(i).count());
      waits_ = waits_ || row.spans.wait(i) > core::Time();
    }
  }
  kinds_.clear();
  for (std::size_t kind = 0; kind < has.size(); ++kind) {
    if (has[kind]) kinds_.push_back(static_cast<int>(kind));
  }
  std::stable_sort(kinds_.begin(), kinds_.end(), [&](int a, int b) {
    return times[static_cast<std::size_t>(a)] > times[static_cast<std::size_t>(b)];
  });
  QStringList names;
  for (const int kind : kinds_) names.append(name_of(kind));
  setAccessibleDescription(names.join(QStringLiteral(", ")));
  setToolTip(tr("The colours of spans; a click searches for spans of the kind"));
  update();
}

void LegendStrip::set_theme(const Theme& theme) {
  theme_ = &theme;
  update();
}

QSize LegendStrip::sizeHint() const { return {320, fontMetrics().height() + 6}; }

int LegendStrip::width_of(const QString& text) const {
  return kSwatch + kGap + fontMetrics().horizontalAdvance(text);
}

QRect LegendStrip::box_of(std::size_t i) const {
  int left = kMargin;
  for (std::size_t k = 0; k < i; ++k) left += width_of(name_of(kinds_[k])) + kBetween;
  const int wide = width_of(name_of(kinds_[i]));
  return left + wide > width() - kMargin ? QRect() : QRect(left, 0, wide, height());
}

void LegendStrip::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.fillRect(rect(), colour(theme_->background));
  int end = kMargin;
  const auto entry = [&](const QRect& box, const SpanLook& look, Pixel filled,
                         const QString& text) {
    const QRect swatch(box.left(), (height() - 16) / 2, kSwatch, 16);
    painter.fillRect(swatch.left(), swatch.top() + 2 * look.from, kSwatch,
                     2 * (look.to - look.from), colour(filled));
    painter.setPen(colour(theme_->text));
    painter.drawText(box.adjusted(kSwatch + kGap, 0, 1, 0), Qt::AlignVCenter, text);
    end = box.right() + 1 + kBetween;
  };
  for (std::size_t i = 0; i < kinds_.size(); ++i) {
    const QRect box = box_of(i);
    if (box.isEmpty()) return;
    const SpanLook& look =
        theme_->spans[static_cast<std::size_t>(kinds_[i]) % theme_->spans.size()];
    entry(box, look, look.colour, name_of(kinds_[i]));
  }
  const QString waits = tr("pale: waits");
  const QRect box(end, 0, width_of(waits), height());
  if (!waits_ || kinds_.empty() || box.right() > width() - kMargin) return;
  const SpanLook& look =
      theme_->spans[static_cast<std::size_t>(kinds_.front()) % theme_->spans.size()];
  entry(box, {0, 0, 8}, look.waiting, waits);
}

void LegendStrip::mouseReleaseEvent(QMouseEvent* event) {
  for (std::size_t i = 0; i < kinds_.size(); ++i) {
    if (box_of(i).contains(event->pos())) return emit kind_wanted(name_of(kinds_[i]));
  }
}

}  // namespace tutti::gui
