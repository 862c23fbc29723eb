#include "gui/widgets/help_dialog.h"

#include <QCoreApplication>
#include <QDialog>
#include <QIcon>
#include <QMessageBox>
#include <QTextBrowser>
#include <QVBoxLayout>

#include "core/base/version.h"
#include "gui/widgets/actions.h"

namespace tutti::gui {

namespace {

QString tr(const char* text) { return QCoreApplication::translate("Help", text); }

QString html_of(const Actions& actions) {
  QString html =
      tr("<p>A pixel that contains a single span is drawn in full, even if the span is shorter "
         "than the pixel. A pixel with several spans has the colour of the longest span and is "
         "filled by the share of time that spans cover. A span of at least four pixels has a dark "
         "left edge. The pale beginning of a span is the time for which the span waits. Hatched "
         "parts of rows were not recorded. In a row of a lane, sends fill the upper part, receives "
         "fill the lower part, and spans that send and receive fill the whole height.</p><p>The "
         "wheel scrolls. Ctrl+wheel zooms at the mouse, and Shift+wheel moves the view in time. "
         "Dragging with the left button selects a range. Dragging with the middle button, or while "
         "Space is pressed, moves the view. Dragging while Alt is pressed zooms to the dragged "
         "range. A double click zooms to a span.</p><p>A search term is a kind (receive), a pack "
         "(pack 3), a device (gpu1), a duration (&gt;1ms, &lt;20us), the name of a layer or a "
         "gradient (conv1), or a combination of these.</p>");
  for (const Actions::Group& group : actions.groups()) {
    html += QStringLiteral("<h3>%1</h3><table>").arg(QString(group.name).remove(QLatin1Char('&')));
    for (QAction* const action : group.actions) {
      QStringList keys;
      for (const QKeySequence& key : action->shortcuts())
        keys.append(key.toString(QKeySequence::NativeText).toHtmlEscaped());
      html += QStringLiteral("<tr><td width=\"200\"><b>%1</b></td><td>%2</td></tr>")
                  .arg(keys.join(QStringLiteral(", ")),
                       action->text().remove(QLatin1Char('&')).toHtmlEscaped());
    }
    html += QStringLiteral("</table>");
  }
  html += QStringLiteral("<p>Tutti %1</p>").arg(QString::fromUtf8(core::version().data()));
  return html;
}

}  // namespace

void show_help(const Actions& actions, QWidget* parent) {
  auto* const dialog = new QDialog(parent);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setWindowTitle(tr("Keys and legend"));
  dialog->resize(640, 640);
  auto* const text = new QTextBrowser(dialog);
  text->setHtml(html_of(actions));
  auto* const layout = new QVBoxLayout(dialog);
  layout->addWidget(text);
  dialog->open();
}

void show_about(QWidget* parent) {
  auto* const box = new QMessageBox(parent);
  box->setAttribute(Qt::WA_DeleteOnClose);
  box->setWindowTitle(tr("About Tutti"));
  box->setIconPixmap(QIcon(QStringLiteral(":/tutti.svg")).pixmap(64, 64));
  box->setText(tr("<b>Tutti %1</b>").arg(QString::fromUtf8(core::version().data())));
  box->setInformativeText(
      tr("Tutti predicts and measures the time of collectives in distributed training. This window "
         "uses Qt %1. docs/window.md describes the window, and F1 lists its keys.")
          .arg(QString::fromLatin1(qVersion())));
  box->open();
}

}  // namespace tutti::gui
