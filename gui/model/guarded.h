#pragma once

#include <exception>
#include <new>
#include <optional>

#include "core/base/error.h"

namespace tutti::gui {

/// Does what a thread is there for, and answers what was thrown meanwhile: above a thread there is nobody who would catch it. Nothing
/// if all went well.
template <class Do>
std::optional<core::Error> guarded(Do&& what) {
  try {
    what();
    return std::nullopt;
  } catch (const std::bad_alloc&) {
    return core::Error::run("there is not enough memory for this");
  } catch (const std::exception& wrong) {
    return core::Error::run(wrong.what());
  }
}

}  // namespace tutti::gui
