//! The demo's application: a shopping list that an agent can read and change. Small, but all of it is real.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use clientmcp::{Application, Call, Json, Tool, ToolError};
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::time::sleep;

/// One item is enough for a long shopping trip.
const MOST_OF_ONE: u32 = 99;

/// What the shop takes for each item at the till: long enough to see a call under way.
const TILL_TIME: Duration = Duration::from_millis(1_500);

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Item {
    name: String,
    quantity: u32,
}

/// The state that the tools share; a window of a real application would show the same.
#[derive(Debug, Clone, Default)]
struct ShoppingList(Arc<Mutex<Vec<Item>>>);

#[derive(Deserialize)]
struct AddItem {
    name: String,
    #[serde(default = "one")]
    quantity: u32,
}

#[derive(Deserialize)]
struct RemoveItem {
    name: String,
}

fn one() -> u32 {
    1
}

/// The application, ready to connect.
pub(super) fn shopping_list(url: &str, token: String) -> Application {
    let list = ShoppingList::default();
    Application::new(token)
        .url(url)
        .instructions("The user's shopping list. Names of items are free text; quantities are whole numbers.")
        .tool(add_item(list.clone()))
        .tool(list_items(list.clone()))
        .tool(remove_item(list.clone()))
        .tool(check_out(list))
}

fn add_item(list: ShoppingList) -> Tool {
    let schema = json!({
        "type": "object",
        "properties": {
            "name": { "type": "string", "description": "What to buy", "minLength": 1, "maxLength": 100 },
            "quantity": { "type": "integer", "description": "How many", "minimum": 1, "maximum": MOST_OF_ONE, "default": 1 }
        },
        "required": ["name"]
    });
    Tool::new("add_item")
        .title("Add an item")
        .description("Puts an item on the shopping list, or more of one that is on it.")
        .input_schema(schema)
        .destructive(false)
        .open_world(false)
        .handler(move |call: Call| {
            let list = list.clone();
            async move { list.add(&call.arguments()?) }
        })
}

fn list_items(list: ShoppingList) -> Tool {
    let item = json!({
        "type": "object",
        "properties": { "name": { "type": "string" }, "quantity": { "type": "integer" } },
        "required": ["name", "quantity"]
    });
    Tool::new("list_items")
        .title("List the items")
        .description("Says what is on the shopping list, in the order it was added.")
        .input_schema(json!({ "type": "object" }))
        .output_schema(json!({
            "type": "object",
            "properties": { "items": { "type": "array", "items": item } },
            "required": ["items"]
        }))
        .read_only(true)
        .open_world(false)
        .handler(move |_| {
            let items = list.items().clone();
            async move { Json(json!({ "items": items })) }
        })
}

fn remove_item(list: ShoppingList) -> Tool {
    let schema = json!({
        "type": "object",
        "properties": { "name": { "type": "string", "description": "As it stands on the list" } },
        "required": ["name"]
    });
    Tool::new("remove_item")
        .title("Remove an item")
        .description("Takes an item off the shopping list. Fails when it is not on the list.")
        .input_schema(schema)
        .destructive(true)
        .idempotent(true)
        .open_world(false)
        .handler(move |call: Call| {
            let list = list.clone();
            async move { list.remove(&call.arguments::<RemoveItem>()?.name) }
        })
}

fn check_out(list: ShoppingList) -> Tool {
    Tool::new("check_out")
        .title("Check out")
        .description(
            "Buys everything on the list and empties it. Takes a moment for each item; fails when the list is empty.",
        )
        .input_schema(json!({ "type": "object" }))
        .destructive(true)
        .open_world(false)
        .handler(move |_| {
            let list = list.clone();
            async move { list.check_out().await }
        })
}

impl ShoppingList {
    fn items(&self) -> MutexGuard<'_, Vec<Item>> {
        // No holder of the lock can panic halfway through a change.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, item: &AddItem) -> Result<String, ToolError> {
        let name = item.name.trim();
        if name.is_empty() || name.chars().count() > 100 {
            return Err("`name` must have 1 to 100 characters".into());
        }
        let mut items = self.items();
        let on_list = items.iter().position(|listed| listed.name == name);
        let had = on_list.and_then(|place| items.get(place)).map_or(0, |listed| listed.quantity);
        let quantity = had.saturating_add(item.quantity);
        if item.quantity == 0 || quantity > MOST_OF_ONE {
            return Err(ToolError::new(format!(
                "the list takes 1 to {MOST_OF_ONE} of one item, and has {had} of {name}"
            )));
        }
        match on_list.and_then(|place| items.get_mut(place)) {
            Some(listed) => listed.quantity = quantity,
            None => items.push(Item { name: name.to_owned(), quantity }),
        }
        Ok(format!("{quantity} x {name} on the list"))
    }

    fn remove(&self, name: &str) -> Result<String, ToolError> {
        let mut items = self.items();
        let place = items.iter().position(|item| item.name == name);
        let place =
            place.ok_or_else(|| ToolError::new(format!("{name} is not on the list; list_items says what is")))?;
        let removed = items.remove(place);
        Ok(format!("{} x {} taken off the list", removed.quantity, removed.name))
    }

    /// Item by item, so that a call that is cancelled midway leaves the rest on the list.
    async fn check_out(&self) -> Result<String, ToolError> {
        if self.items().is_empty() {
            return Err("the list is empty, so there is nothing to buy".into());
        }
        let mut bought = Vec::new();
        loop {
            let Some(next) = self.items().first().cloned() else { break };
            sleep(TILL_TIME).await;
            self.items().retain(|item| *item != next);
            bought.push(format!("{} x {}", next.quantity, next.name));
        }
        Ok(format!("bought {}", bought.join(", ")))
    }
}
