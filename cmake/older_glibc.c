// hypot as glibc before 2.35 knew it: the one symbol for which a wheel would run on no Linux older than that. Linked with
// --wrap=hypot (isas.cmake).
double older_hypot(double x, double y);
__asm__(".symver older_hypot, hypot@GLIBC_2.2.5");
double __wrap_hypot(double x, double y);
double __wrap_hypot(double x, double y) { return older_hypot(x, y); }
