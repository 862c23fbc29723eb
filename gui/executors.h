#pragma once

#include <string>

#include "gui/editor/editor_session.h"

namespace tutti::gui {

/// Returns the executors of this program: the simulator, and real runs over TCP, over shared memory
/// and on GPUs. `worker_program`: the path of the tutti command, which worker processes of real
/// runs execute.
Executors make_executors(const std::string& worker_program);

/// Returns the path of the tutti command in the directory of this program.
std::string own_worker_program();

}  // namespace tutti::gui
