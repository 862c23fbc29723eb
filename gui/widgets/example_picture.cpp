#include "gui/widgets/example_picture.h"

#include <QPainter>
#include <utility>

#include "core/base/file.h"
#include "gui/paint/miniature_painter.h"

namespace tutti::gui {

namespace {

constexpr std::size_t kPictureRows = 6;
constexpr int kPictureHeight = 62;

}  // namespace

ExamplePicture::ExamplePicture(QWidget* parent) : QWidget(parent), theme_(&light_theme()) {
  setFixedHeight(kPictureHeight);
  setAttribute(Qt::WA_TransparentForMouseEvents);
}

void ExamplePicture::show_miniature(const core::Expected<Miniature>& miniature) {
  image_ = {};
  miniature_.reset();
  problem_.clear();
  if (miniature) {
    miniature_ = *miniature;
  } else {
    problem_ = QString::fromStdString(miniature.error().message());
  }
  update();
}

void ExamplePicture::set_theme(const Theme& theme) {
  theme_ = &theme;
  image_ = {};
  update();
}

void ExamplePicture::paintEvent(QPaintEvent*) {
  const QSize inner = size() - QSize(2, 2);
  const bool is_old = image_.isNull() || image_.deviceIndependentSize().toSize() != inner ||
                      image_.devicePixelRatio() != devicePixelRatioF();
  if (miniature_ && is_old)
    image_ = paint_miniature(*miniature_, *theme_, inner, devicePixelRatioF());
  QPainter painter(this);
  painter.fillRect(rect(), QColor::fromRgb(theme_->band));
  if (!image_.isNull()) painter.drawImage(QPoint(1, 1), image_);
  painter.setPen(QColor::fromRgb(theme_->line));
  painter.drawRect(rect().adjusted(0, 0, -1, -1));
  if (problem_.isEmpty()) return;
  painter.setPen(QColor::fromRgb(theme_->faint_text));
  painter.drawText(rect().adjusted(6, 4, -6, -4), Qt::AlignCenter | Qt::TextWordWrap, problem_);
}

ExampleSimulations::ExampleSimulations(std::vector<Example> examples, core::Library library,
                                       MakeExecutor make, IsInView is_in_view, Take take)
    : examples_(std::move(examples)),
      library_(std::move(library)),
      make_(std::move(make)),
      is_in_view_(std::move(is_in_view)),
      take_(std::move(take)),
      done_(examples_.size()),
      task_(*this, [this](const core::Expected<Miniature>& made) {
        done_[current_] = true;
        take_(current_, made);
        start();
      }) {}

void ExampleSimulations::start() {
  if (task_.running()) return;
  for (std::size_t i = 0; i < examples_.size(); ++i) {
    if (!done_[i] && is_in_view_(i)) return begin(i);
  }
}

void ExampleSimulations::begin(std::size_t example) {
  current_ = example;
  task_.begin([path = examples_[example].path, library = library_,
               make = make_](const std::atomic<bool>& stop) -> core::Expected<Miniature> {
    const auto text = core::read_text_file(path);
    if (!text) return tl::make_unexpected(text.error());
    return make_miniature(*text, path, library, *make(), kPictureRows, stop);
  });
}

void ExampleSimulations::finish() {
  for (std::size_t i = 0; i < examples_.size(); ++i) {
    while (task_.running()) task_.finish();
    if (!done_[i]) begin(i);
  }
  while (task_.running()) task_.finish();
}

}  // namespace tutti::gui
