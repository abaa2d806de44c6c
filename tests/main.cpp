// Catch2's own main takes many seconds to compile: here, once, for every test program.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
