// The kernel of own_study.cpp's system: the same text, compiled by nvcc.
#include "own_study.cpp"
