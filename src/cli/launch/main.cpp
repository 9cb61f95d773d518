#include "cli/launch/program.hpp"

int main(int argc, char** argv) { return garra_program(argc, argv); }
