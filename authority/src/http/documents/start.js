// Shows the document of this listener. No requests are sent from here, and no validator elsewhere is asked.
SwaggerUIBundle({
  url: new URL("openapi.json", document.baseURI).href,
  domNode: document.getElementById("api"),
  deepLinking: true,
  docExpansion: "list",
  defaultModelsExpandDepth: 0,
  filter: true,
  supportedSubmitMethods: [],
  // There is nothing to authorize, since nothing is sent.
  plugins: [() => ({ wrapComponents: { authorizeBtn: () => () => null, authorizeOperationBtn: () => () => null } })],
  validatorUrl: null,
  onComplete() {
    document.title = document.querySelector("#api .title")?.firstChild?.textContent ?? "API";
  },
});
