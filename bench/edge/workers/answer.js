// Answers and does nothing else: what a request costs in any case.

export default {
  async fetch(request) {
    await request.arrayBuffer();
    return Response.json({ code: "ok" });
  },
};
