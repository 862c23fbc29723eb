#pragma once

#include "core/network/path.h"

namespace tutti::core {

/// The use of a resource by something that is not a message.
struct LinkUse {
  ResourceId resource = -1;  ///< -1: none; only the load of the link is recorded
  LinkId link = -1;
  Bandwidth rate;
  Time busy;      ///< duration on an otherwise idle resource at its nominal rate
  Bytes carried;  ///< bytes that cross the link in that time
};

}  // namespace tutti::core
