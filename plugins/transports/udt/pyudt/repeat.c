/* Makes many calls of UDT::send without returning to Python between them. For blocks of one packet
   the way through the interpreter would take a tenth of the time of the call itself. */

typedef int (*send_function)(int socket, const char *data, int length, int flags);

/* Calls `send` up to `calls` times with the same block; stops at the first that takes less than
   the whole block. Returns the bytes taken; `*failed` says whether the last call failed. */
long long repeat_send(send_function send, int socket, const char *block, int length, int calls,
                      int *failed)
{
    long long taken = 0;
    *failed = 0;
    for (int i = 0; i < calls; i++) {
        int sent = send(socket, block, length, 0);
        if (sent < 0) {
            *failed = 1;
            break;
        }
        taken += sent;
        if (sent < length)
            break;
    }
    return taken;
}
