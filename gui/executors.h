#pragma once

#include <string>

#include "gui/editor/editor_session.h"

namespace tutti::gui {

/// Returns the executors of this program: the simulator, and real runs over TCP, over shared memory
/// and on GPUs, whose worker processes run `worker_program` (the tutti command).
Executors make_executors(const std::string& worker_program);

/// Returns the expected path of the tutti command, which is in the directory of this program.
std::string own_worker_program();

}  // namespace tutti::gui
