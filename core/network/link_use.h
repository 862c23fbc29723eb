#pragma once

#include "core/network/path.h"

namespace tutti::core {

/// An occupation of a resource, or a load of a link, that is not caused by a message of a schedule,
/// but by a collective whose time is predicted as a whole.
struct LinkUse {
  ResourceId resource = -1;  ///< -1: no resource is occupied, and only the load of the link is
                             ///< recorded
  LinkId link = -1;
  Bandwidth rate;
  Time busy;  ///< time for which the resource is occupied if nothing else uses it and it has its
              ///< nominal rate
  Bytes carried;  ///< bytes that cross the link during the time `busy`
};

}  // namespace tutti::core
