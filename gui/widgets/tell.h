#pragma once

#include <QObject>
#include <atomic>
#include <memory>
#include <utility>

namespace tutti::gui {

/// Calls `what` later in the thread of `listener`, unless `listener` has been destroyed by then.
/// May be called from any thread.
template <class What>
void tell(QObject* listener, What what) {
  /// Holds `what`, and makes the order of accesses visible to ThreadSanitizer. `what` is written
  /// before it is sent, read after it is received, and freed after it is read. Qt's event queue
  /// already guarantees this order, but ThreadSanitizer cannot detect that.
  struct Letter {
    What what;
    std::atomic<bool> in_flight = false;
    ~Letter() { static_cast<void>(in_flight.load(std::memory_order_acquire)); }
  };
  const std::shared_ptr<Letter> letter(new Letter{std::move(what)});
  letter->in_flight.store(true, std::memory_order_release);
  QMetaObject::invokeMethod(
      listener,
      [letter] {
        if (letter->in_flight.load(std::memory_order_acquire)) letter->what();
        letter->in_flight.store(false, std::memory_order_release);
      },
      Qt::QueuedConnection);
}

}  // namespace tutti::gui
