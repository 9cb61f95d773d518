// The kernel of the project's own bodies is the public one.
#pragma once

#include "garra/batch/for_each.cuh"
