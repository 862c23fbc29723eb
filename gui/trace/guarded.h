#pragma once

#include <exception>
#include <new>
#include <optional>

#include "core/base/error.h"

namespace tutti::gui {

/// Calls `what`. Returns an error if `what` throws an exception; otherwise nullopt. Used in the
/// outermost function of a thread, because an exception cannot be caught outside of the thread.
template <class Do>
std::optional<core::Error> guarded(Do&& what) {
  try {
    what();
    return std::nullopt;
  } catch (const std::bad_alloc&) {
    return core::Error::run("out of memory");
  } catch (const std::exception& wrong) {
    return core::Error::run(wrong.what());
  }
}

}  // namespace tutti::gui
