/* A client of NATS in C, with libnats: reads one tensor and prints it. */
#include <inttypes.h>
#include <nats/nats.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int fail(natsStatus status)
{
    fprintf(stderr, "%s\n", natsStatus_GetText(status));
    return 1;
}

int main(int argc, char **argv)
{
    natsConnection *connection = NULL;
    natsSubscription *subscription = NULL;
    natsMsg *message = NULL;
    const char *dtype = NULL, *shape = NULL;
    if (argc != 3) return 2;

    natsStatus status = natsConnection_ConnectTo(&connection, argv[1]);
    if (status == NATS_OK) status = natsConnection_SubscribeSync(&subscription, connection, argv[2]);
    if (status == NATS_OK) status = natsConnection_Flush(connection);
    if (status != NATS_OK) return fail(status);
    printf("ready\n");
    fflush(stdout);

    status = natsSubscription_NextMsg(&message, subscription, 60000);
    if (status == NATS_OK) status = natsMsgHeader_Get(message, "Tensor-Dtype", &dtype);
    if (status == NATS_OK) status = natsMsgHeader_Get(message, "Tensor-Shape", &shape);
    if (status != NATS_OK) return fail(status);

    /* The tensor, in two lines: */
    const float *values = (const float *)natsMsg_GetData(message);
    int count = natsMsg_GetDataLength(message) / (int)sizeof *values;

    printf("%s [%s]", dtype, shape);
    for (int i = 0; i < count; i++) {
        float value;
        memcpy(&value, (const char *)values + (size_t)i * sizeof value, sizeof value);
        printf(" %g", value);
    }
    printf("\n");
    natsMsg_Destroy(message);
    natsSubscription_Destroy(subscription);
    natsConnection_Destroy(connection);
    nats_Close();
    return 0;
}
