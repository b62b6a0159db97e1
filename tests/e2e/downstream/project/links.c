/* Links against all three installed libraries at once: there must be one copy of what they share. */
#include <stdio.h>
#include <string.h>

#include "tq/client.h"
#include "tq/init.h"
#include "tq/v1/storage.tq.h"

int main(void)
{
    if (strcmp(tq_v1_storage_service.name, "tq.v1.StorageService") != 0 || tq_version()[0] == '\0')
        return 1;
    puts(tq_version());
    return 0;
}
