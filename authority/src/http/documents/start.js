// Shows the document of this listener. No requests are sent from here, and no validator elsewhere is asked.

/** The languages of samples that the viewer can colour. */
const HIGHLIGHTED = { Shell: "bash", JavaScript: "javascript" };

/** The samples of an operation (`x-codeSamples`), above its answers; the language that was chosen last is shown everywhere. */
function Samples({ system, specPath }) {
  const { React, getComponent, specSelectors } = system();
  const [language, choose] = React.useState(() => sessionStorage.getItem("language"));
  const samples = specSelectors.specJson().getIn([...specPath.butLast(), "x-codeSamples"])?.toJS() ?? [];
  const shown = samples.find(({ label }) => label === language) ?? samples[0];
  if (shown === undefined) return null;
  const create = React.createElement;
  const onChange = ({ target }) => {
    sessionStorage.setItem("language", target.value);
    choose(target.value);
  };
  const options = samples.map(({ label }) => create("option", { key: label }, label));
  const menu = create("select", { value: shown.label, onChange, "aria-label": "Language" }, options);
  const code = { language: HIGHLIGHTED[shown.lang] ?? "text", canCopy: true, children: shown.source };
  return create(
    "div",
    { className: "samples" },
    create("div", { className: "opblock-section-header" }, create("h4", null, "Sample"), menu),
    create("div", { className: "responses-inner" }, create(getComponent("HighlightCode", true), code)),
  );
}

/** The answers, below the samples. There is nothing to authorize, since nothing is sent. */
const plugin = () => ({
  wrapComponents: {
    authorizeBtn: () => () => null,
    authorizeOperationBtn: () => () => null,
    responses: (Responses, { getSystem, React }) => (props) =>
      React.createElement(
        React.Fragment,
        null,
        React.createElement(Samples, { system: getSystem, specPath: props.specPath }),
        React.createElement(Responses, props),
      ),
  },
});

SwaggerUIBundle({
  url: new URL("openapi.json", document.baseURI).href,
  domNode: document.getElementById("api"),
  deepLinking: true,
  docExpansion: "list",
  defaultModelsExpandDepth: 0,
  filter: true,
  supportedSubmitMethods: [],
  plugins: [plugin],
  validatorUrl: null,
  onComplete() {
    document.title = document.querySelector("#api .title")?.firstChild?.textContent ?? "API";
  },
});
