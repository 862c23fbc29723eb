#pragma once

#include "core/network/path.h"

namespace tutti::core {

/// What something that is no message has of a resource.
struct LinkUse {
  ResourceId resource = -1;  ///< -1: none, only its link's load is recorded
  LinkId link = -1;
  Bandwidth rate;
  Time busy;      ///< for how long if it has the resource to itself, and that carries what it usually does
  Bytes carried;  ///< over the link meanwhile
};

}  // namespace tutti::core
