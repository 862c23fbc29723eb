#pragma once

// Algorithms from the spanning trees of ForestColl. The function spanning_trees_to_xml in
// ForestColl's pipeline_allgather.py writes the trees as XML.

#include <memory>
#include <string>
#include <string_view>

#include "core/custom/custom_algorithm.h"

namespace tutti::core::custom {

/// True if the text is XML whose root element is <Algo>.
bool is_forestcoll(std::string_view text);

/// Reads an all-gather from trees. for_collective() derives a reduce-scatter or an all-reduce from
/// the all-gather. The parameter `pieces` is the number of pieces into which the data of each tree
/// is divided for pipelining. Returns null and adds problems, with their locations, if the text is
/// invalid.
std::shared_ptr<const AlgorithmText> read_forestcoll(std::string_view text, const std::string& file,
                                                     Problems& problems);

}  // namespace tutti::core::custom
