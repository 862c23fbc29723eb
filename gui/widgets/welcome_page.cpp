#include "gui/widgets/welcome_page.h"

#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>

namespace tutti::gui {

WelcomePage::WelcomePage(QWidget* parent) : QWidget(parent) {
  auto* const layout = new QVBoxLayout(this);
  layout->addStretch(2);
  auto* const text = new QLabel(
      tr("<h2>No timeline is open</h2>"
         "<p>A timeline is what <b>tutti simulate</b> or <b>tutti run</b> write down of a step:</p>"
         "<pre>tutti simulate scenarios/04_resnet50_ring.textproto --timeline mine.tutti\ntutti view mine.tutti</pre>"
         "<p>Open one, or drop it here. <b>Ctrl+P</b> lists all that can be done, <b>?</b> explains it.</p>"));
  text->setAlignment(Qt::AlignCenter);
  text->setTextInteractionFlags(Qt::TextSelectableByMouse);
  layout->addWidget(text, 0, Qt::AlignCenter);
  auto* const button = new QPushButton(tr("&Open a timeline…"));
  connect(button, &QPushButton::clicked, this, &WelcomePage::open_wanted);
  layout->addWidget(button, 0, Qt::AlignCenter);
  layout->addStretch(3);
}

}  // namespace tutti::gui
