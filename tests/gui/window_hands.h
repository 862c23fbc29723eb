#pragma once

#include <QApplication>
#include <QDropEvent>
#include <QMimeData>
#include <QSignalSpy>
#include <QTest>
#include <QUrl>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "gui/window/main_window.h"

namespace tutti::gui {

/// Shows a window and waits until it has the keyboard focus. (On a display, only the active window
/// has shortcuts.)
inline void show_in_front(QWidget& window) {
  window.show();
  window.activateWindow();
  constexpr int kMostMs = 20'000;
  static_cast<void>(QTest::qWaitForWindowActive(&window, kMostMs));
}

/// Calls `open`, which opens timelines, and waits until they are open. Returns nothing on success,
/// else the message.
inline std::optional<std::string> why_not_opened(MainWindow& window,
                                                 const std::function<void()>& open) {
  QSignalSpy opened(&window, &MainWindow::opened), failed(&window, &MainWindow::failed);
  show_in_front(window);
  open();
  // A busy machine may take long. If nothing happens at all, ctest stops the test.
  while (opened.isEmpty() && failed.isEmpty()) QTest::qWait(10);
  if (!opened.isEmpty()) return std::nullopt;
  return failed.isEmpty() ? std::string() : failed.front().front().toString().toStdString();
}

/// Drags files to a widget and drops them there. Returns true if the widget accepted them.
inline bool drop(QWidget* on, const std::vector<std::string>& paths) {
  QMimeData files;
  QList<QUrl> urls;
  for (const std::string& path : paths)
    urls.push_back(QUrl::fromLocalFile(QString::fromStdString(path)));
  if (!urls.empty()) files.setUrls(urls);
  QDragEnterEvent enter({10, 10}, Qt::CopyAction, &files, Qt::LeftButton, Qt::NoModifier);
  QApplication::sendEvent(on, &enter);
  QDropEvent drop({10, 10}, Qt::CopyAction, &files, Qt::LeftButton, Qt::NoModifier);
  QApplication::sendEvent(on, &drop);
  return enter.isAccepted();
}

}  // namespace tutti::gui
