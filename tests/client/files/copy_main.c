/* `copy FROM TO`: the columns of one file written to another, for numpy_test.py. */
#include <stdio.h>

#include "client/files/table_file.h"

int main(int argc, char **argv)
{
    struct tq_table_file file = { 0 };
    struct tq_error err = { 0 };
    if (argc != 3)
        return 2;
    tq_status status = tq_table_file_read(argv[1], &file, &err);
    if (status == TQ_OK)
        status = tq_table_file_write(argv[2], &file.batch, &err);
    if (status != TQ_OK)
        fprintf(stderr, "%s\n", err.message);
    tq_table_file_drop(&file);
    return status == TQ_OK ? 0 : 1;
}
