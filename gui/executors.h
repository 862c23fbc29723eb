#pragma once

#include <string>

#include "gui/editor/editor_session.h"

namespace tutti::gui {

/// Returns the executors of this program: the simulator, and for real runs processes of
/// `worker_program` (the tutti command) over TCP, over shared memory, and on GPUs.
Executors make_executors(const std::string& worker_program);

/// Returns where the tutti command should be: in the directory of this program.
std::string own_worker_program();

}  // namespace tutti::gui
