// The project's own bodies use the public kernel.
#pragma once

#include "garra/batch/for_each.cuh"
