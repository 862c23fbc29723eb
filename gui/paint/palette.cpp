#include "gui/paint/palette.h"

#include <QApplication>
#include <QStyle>

#include "gui/paint/colour.h"

namespace tutti::gui {

QPalette palette_of(const Theme& theme, bool dark) {
  QPalette colours = dark ? QPalette(QColor(0x2b, 0x30, 0x37), QColor(0x22, 0x26, 0x2c))
                          : QApplication::style()->standardPalette();
  // A desktop's own theme may be dark although the user has chosen the light theme in this program.
  if (!dark && colours.color(QPalette::Window).lightness() < 128)
    colours = QPalette(QColor(0xef, 0xef, 0xef));
  colours.setColor(QPalette::Base, colour(theme.background));
  colours.setColor(QPalette::AlternateBase, colour(theme.band));
  colours.setColor(QPalette::ToolTipBase, colour(theme.group));
  colours.setColor(QPalette::Link, colour(dark ? 0xff8ab4f8 : 0xff0b57a4));
  colours.setColor(QPalette::LinkVisited, colour(dark ? 0xffc9a8f0 : 0xff6a3d9a));
  colours.setColor(QPalette::Highlight, colour(0xff2f65a5));
  colours.setColor(QPalette::HighlightedText, colour(0xffffffff));
  for (const QPalette::ColorRole role :
       {QPalette::Text, QPalette::WindowText, QPalette::ButtonText, QPalette::ToolTipText}) {
    colours.setColor(role, colour(theme.text));
    colours.setColor(QPalette::Disabled, role, colour(blend(theme.background, theme.text, 0.4)));
  }
  colours.setColor(QPalette::PlaceholderText, colour(theme.faint_text));
  return colours;
}

}  // namespace tutti::gui
