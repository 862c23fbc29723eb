#pragma once

// The one place that includes Boost.Asio. Boost 1.74 in C++20 mode needs <utility> in front.

#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
