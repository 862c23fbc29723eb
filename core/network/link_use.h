#pragma once

#include "core/network/path.h"

namespace tutti::core {

/// A use of a resource or link that is not caused by a message.
struct LinkUse {
  ResourceId resource = -1;  ///< -1: no resource is occupied; only the load of the link is recorded
  LinkId link = -1;
  Bandwidth rate;
  Time busy;      ///< duration on a resource that is otherwise idle and has its nominal rate
  Bytes carried;  ///< bytes that cross the link during `busy`
};

}  // namespace tutti::core
