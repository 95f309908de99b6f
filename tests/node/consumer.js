// Another Worker of the same account, as a sink of the edge receiver: by a queue or by a service binding. It tells a
// receiver of the test (RECEIVER_URL) of everything that it gets. Its answer to a request is the receiver's; a message
// is acknowledged when the receiver takes it, and comes again otherwise.

export default {
  async fetch(request, env) {
    const { pathname } = new URL(request.url);
    const { status } = await fetch(`${env.RECEIVER_URL}${pathname}`, request);
    return new Response(null, { status });
  },

  async queue(batch, env) {
    for (const message of batch.messages) {
      const { status } = await fetch(`${env.RECEIVER_URL}/queue`, {
        method: "POST",
        headers: { "service-event-id": message.body.id },
        body: JSON.stringify(message.body),
      });
      if (status === 200) message.ack();
      else message.retry();
    }
  },
};
