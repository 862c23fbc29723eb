#include "real/protocol.h"

namespace tutti::real {

std::string_view protocol() { return "@PROJECT_VERSION@-@TUTTI_PROTOCOL_DIGEST@"; }

}  // namespace tutti::real
