/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/student.h"

#include <math.h>

double student_critical(double alpha, double freedom)
{
    double low = 0, high = 40, z, v = freedom;

    for (unsigned i = 0; i < 100; i++) { /* of the normal distribution */
        z = (low + high) / 2;
        if (erfc(z / sqrt(2)) > alpha)
            low = z;
        else
            high = z;
    }
    z = (low + high) / 2;
    /* Cornish and Fisher's expansion for t */
    return z + (pow(z, 3) + z) / (4 * v) + (5 * pow(z, 5) + 16 * pow(z, 3) + 3 * z) / (96 * v * v) +
           (3 * pow(z, 7) + 19 * pow(z, 5) + 17 * pow(z, 3) - 15 * z) / (384 * pow(v, 3));
}
