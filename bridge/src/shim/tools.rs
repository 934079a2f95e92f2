//! The command's own tools: for hosts that never read a list again, and for all applications behind one server.

/// A status, a list and a call of one application, for hosts that read the list of tools once.
pub(super) const STATIC: &str = concat!(
    r#"{"name":"clientmcp_status","title":"Connection","description":"Says whether the application is connected and how many tools it offers now.","inputSchema":{"type":"object","properties":{}},"annotations":{"readOnlyHint":true}},"#,
    r#"{"name":"clientmcp_list_tools","title":"List the application's tools","description":"Lists the tools that the application offers now, with their input schemas. They come and go with the application.","inputSchema":{"type":"object","properties":{}},"annotations":{"readOnlyHint":true}},"#,
    r#"{"name":"clientmcp_call_tool","title":"Call a tool of the application","description":"Calls one tool from clientmcp_list_tools.","inputSchema":{"type":"object","properties":{"name":{"type":"string","description":"The tool's name"},"arguments":{"type":"object","description":"As the tool's input schema says"}},"required":["name"]}}"#
);

/// All applications behind one server.
pub(super) const ALL: &str = concat!(
    r#"{"name":"clientmcp_apps","title":"List applications","description":"Lists the applications whose tools may be called, and which of them are connected now.","inputSchema":{"type":"object","properties":{}},"annotations":{"readOnlyHint":true}},"#,
    r#"{"name":"clientmcp_tools","title":"List an application's tools","description":"Lists the tools that an application offers now, with their input schemas.","inputSchema":{"type":"object","properties":{"app":{"type":"string","description":"An application from clientmcp_apps"}},"required":["app"]},"annotations":{"readOnlyHint":true}},"#,
    r#"{"name":"clientmcp_call","title":"Call a tool of an application","description":"Calls one tool of an application. clientmcp_tools says which there are.","inputSchema":{"type":"object","properties":{"app":{"type":"string","description":"An application from clientmcp_apps"},"tool":{"type":"string","description":"The tool's name"},"arguments":{"type":"object","description":"As the tool's input schema says"}},"required":["app","tool"]}}"#
);

/// One of the tools beside one application's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Static {
    Status,
    List,
    Call,
}

impl Static {
    pub(super) fn named(name: &str) -> Option<Self> {
        match name {
            "clientmcp_status" => Some(Self::Status),
            "clientmcp_list_tools" => Some(Self::List),
            "clientmcp_call_tool" => Some(Self::Call),
            _ => None,
        }
    }
}

/// One of the tools before all applications.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OfAll {
    Apps,
    Tools,
    Call,
}

impl OfAll {
    pub(super) fn named(name: &str) -> Option<Self> {
        match name {
            "clientmcp_apps" => Some(Self::Apps),
            "clientmcp_tools" => Some(Self::Tools),
            "clientmcp_call" => Some(Self::Call),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn names(definitions: &str) -> Vec<String> {
        let tools: Vec<Value> = serde_json::from_str(&format!("[{definitions}]")).unwrap();
        assert!(tools.iter().all(|tool| tool["inputSchema"]["type"] == "object"));
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    }

    #[test]
    fn each_definition_has_its_tool() {
        assert!(names(STATIC).iter().all(|name| Static::named(name).is_some()));
        assert!(names(ALL).iter().all(|name| OfAll::named(name).is_some()));
        assert_eq!((names(STATIC).len(), names(ALL).len()), (3, 3));
        assert_eq!((Static::named("clientmcp_call"), OfAll::named("clientmcp_call_tool")), (None, None));
    }
}
