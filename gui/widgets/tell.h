#pragma once

#include <QObject>
#include <atomic>
#include <memory>
#include <utility>

namespace tutti::gui {

/// Has `what` done soon, in the thread that `listener` belongs to; not if it is gone by then. To be called from any thread.
template <class What>
void tell(QObject* listener, What what) {
  /// What was written before it was sent is read after it was received, and freed after it was read, by whoever is the last: Qt's
  /// queue sees to that, but in a way that ThreadSanitizer cannot see.
  struct Letter {
    What what;
    std::atomic<bool> under_way = false;
    ~Letter() { static_cast<void>(under_way.load(std::memory_order_acquire)); }
  };
  const std::shared_ptr<Letter> letter(new Letter{std::move(what)});
  letter->under_way.store(true, std::memory_order_release);
  QMetaObject::invokeMethod(
      listener,
      [letter] {
        if (letter->under_way.load(std::memory_order_acquire)) letter->what();
        letter->under_way.store(false, std::memory_order_release);
      },
      Qt::QueuedConnection);
}

}  // namespace tutti::gui
