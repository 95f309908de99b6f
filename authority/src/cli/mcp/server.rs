//! The server as the protocol sees it: its tools and resources, and the way of a call to its tool.
//!
//! A call names a tool of the table; its arguments are looked through for secrets, checked against the tool's schema,
//! and handed to the tool. Errors of the tool are results with `isError`, which the model sees and can act on; an
//! unknown tool is an error of the protocol. A call that is cancelled ends where it waits.

use rmcp::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData, Implementation,
    ListResourcesResult, ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams,
    ReadResourceResponse, ServerCapabilities, ServerConfig, Tool, ToolAnnotations,
};
use rmcp::service::{RequestContext, RoleServer};
use zeroize::Zeroizing;

use super::arguments::{Arguments, Parameter, schema};
use super::outcome::ToolError;
use super::{deliveries, documents, events, records, secrets};
use crate::dev::client::{Api, Http};

/// How a running authority is reached. Has no `Debug`: it holds the key and secrets.
pub(super) struct Connection {
    pub(super) http: Http,
    /// Without a slash at its end.
    pub(super) url: String,
    /// A test key.
    pub(super) key: String,
    /// The merchant API, with that key.
    pub(super) merchant: Api,
    /// The secrets to explain deliveries with.
    pub(super) secrets: Vec<Zeroizing<String>>,
}

/// Answers the requests of one client.
pub(super) struct Server {
    connection: Connection,
}

/// A tool.
struct Declared {
    name: &'static str,
    title: &'static str,
    about: &'static str,
    parameters: &'static [Parameter],
    effect: Effect,
}

#[derive(PartialEq)]
enum Effect {
    /// Changes nothing.
    Reads,
    /// Makes new test records, each time others.
    Creates,
}

const TOOLS: [Declared; 6] = [
    Declared {
        name: "list_records",
        title: "List records",
        about: "Lists the merchant's records of test mode, newest first (events: in their order), as the merchant API \
                answers: {\"data\": […], \"next_cursor\"?}.",
        parameters: records::LIST,
        effect: Effect::Reads,
    },
    Declared {
        name: "get_record",
        title: "Read a record",
        about: "Reads one record of test mode as the merchant API answers it.",
        parameters: records::GET,
        effect: Effect::Reads,
    },
    Declared {
        name: "trigger_event",
        title: "Trigger an event",
        about: "Produces an event in test mode by the shortest legal path, with new records that the sandbox makes, and \
                answers its id. Endpoints that want it get a signed delivery. webhook.test needs an enabled endpoint.",
        parameters: events::TRIGGER,
        effect: Effect::Creates,
    },
    Declared {
        name: "explain_delivery",
        title: "Explain a refused delivery",
        about: "Says why a receiver refused a webhook delivery: the code, and likely causes with what was seen and how \
                to fix it. Give the headers and the body that the receiver got, or a delivery_id. Never pass a secret.",
        parameters: deliveries::EXPLAIN,
        effect: Effect::Reads,
    },
    Declared {
        name: "search_documents",
        title: "Search the documents",
        about: "Full text over the documents of this version: the API reference, the contract, the npm package, \
                operations. Answers the best sections with an excerpt and the anchor to read them by.",
        parameters: documents::SEARCH,
        effect: Effect::Reads,
    },
    Declared {
        name: "read_document",
        title: "Read a document",
        about: "Reads a document or one of its sections, in Markdown.",
        parameters: documents::READ,
        effect: Effect::Reads,
    },
];

const INSTRUCTIONS: &str = "A commerce authority in test mode: orders, payments, refunds, shipments, subscriptions, and \
     signed webhook events. To write a receiver or a client, search the documents first. To try a receiver, trigger \
     events and look at the deliveries of its endpoint. A tool's error has a code and a detail. An answer has at most 128 \
     KiB.";

impl Server {
    pub(super) fn new(connection: Connection) -> Self {
        Self { connection }
    }

    async fn call(&self, tool: &Declared, request: CallToolRequestParams) -> Result<String, ToolError> {
        secrets::refuse(request.arguments.as_ref())?;
        let arguments = &Arguments::check(request.arguments, tool.parameters)?;
        let connection = &self.connection;
        match tool.name {
            "list_records" => records::list(&connection.merchant, arguments).await,
            "get_record" => records::get(&connection.merchant, arguments).await,
            "trigger_event" => events::trigger(connection, arguments).await,
            "explain_delivery" => deliveries::explain(connection, arguments).await,
            "search_documents" => documents::search(arguments, &connection.url),
            _ => documents::read(arguments),
        }
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_resources().build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("authority", env!("CARGO_PKG_VERSION")))
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(TOOLS.iter().map(described).collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(tool) = TOOLS.iter().find(|tool| tool.name == request.name) else {
            return Err(ErrorData::invalid_params("There is no such tool.", None));
        };
        let done = tokio::select! {
            done = self.call(tool, request) => done,
            () = context.ct.cancelled() => Err(ToolError::new("cancelled", "The call was cancelled.")),
        };
        let result = match done {
            Ok(text) => CallToolResult::success(vec![ContentBlock::text(text)]),
            Err(error) => CallToolResult::error(vec![ContentBlock::text(error.into_text())]),
        };
        Ok(result.into())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(documents::resources()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let missing = || ErrorData::resource_not_found("There is no such document.", None);
        documents::resource(&request.uri).map(Into::into).ok_or_else(missing)
    }
}

/// A tool as the protocol describes it.
fn described(tool: &Declared) -> Tool {
    let reads = tool.effect == Effect::Reads;
    let annotations = ToolAnnotations::with_title(tool.title)
        .read_only(reads)
        .destructive(false)
        .idempotent(reads)
        .open_world(false);
    Tool::new(tool.name, tool.about, schema(tool.parameters))
        .with_title(tool.title)
        .with_annotations(annotations)
}
