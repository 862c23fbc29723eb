#pragma once

#include <string>
#include <vector>

#include "core/explore/axis.h"

namespace tutti::core {

/// Formats the value of a field of a scenario. A size in bytes is written in a unit in which it is
/// a whole number, such as "25 MiB" or "4 MB". An empty value is written as "not set".
std::string shown_value(const std::string& field, const std::string& value);

/// Returns the labels of the rows of an axis that compares strategies: the algorithm, the
/// framework, and the settings that vary among rows with the same algorithm and framework, such as
/// "ring, horovod, shards=2".
std::vector<std::string> row_labels(const Axis& axis);

}  // namespace tutti::core
