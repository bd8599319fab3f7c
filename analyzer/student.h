/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Student's t distribution. */
#ifndef UNBLEND_ANALYZER_STUDENT_H
#define UNBLEND_ANALYZER_STUDENT_H

/* With so many degrees of freedom (any number from 1), P(|t| > result) = alpha; to a per cent or better from 5 on. */
double student_critical(double alpha, double freedom);

#endif
