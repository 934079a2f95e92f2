//! A small real application: a shopping list whose tools an agent can call. The demo runs it; it shows what a good
//! citizen declares, and it never touches anything but its own list.

use std::{
    future::ready,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use clientmcp::{Application, Call, Handle, Json, Tool, ToolError};
use clientmcp_bridge::control::Sample;
use clientmcp_protocol::ids::ClientId;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::time::sleep;

/// How long it takes to find one item in the shop.
const PER_ITEM: Duration = Duration::from_secs(1);

const INSTRUCTIONS: &str = "A shopping list shared with the user. Look at it with list_items before you change it. Items \
                            are told apart by name, in any letter case. check_out empties the list.";

/// The most of one item: a list for people, not for a warehouse.
const MOST: u32 = 99;

/// Its client ID, wherever it runs.
pub(super) const APPLICATION: &str = "shopping-list";

/// The sample that the desktop app offers to run.
#[derive(Default)]
pub(super) struct ShoppingList(Option<Handle>);

impl Sample for ShoppingList {
    fn application(&self) -> ClientId {
        #[expect(clippy::expect_used, reason = "a constant of ours")]
        ClientId::new(APPLICATION).expect("it is a client ID")
    }

    fn start(&mut self, connect_url: &str, token: String) {
        self.0 = Some(shopping_list(connect_url, token).connect());
    }

    fn stop(&mut self) {
        // Dropping it closes its connection.
        self.0 = None;
    }
}

/// The application, ready to connect.
pub(super) fn shopping_list(url: &str, token: String) -> Application {
    let list = List::default();
    Application::new(token).url(url).instructions(INSTRUCTIONS).tools([
        add_item_tool(list.clone()),
        list_items_tool(list.clone()),
        check_out_tool(list),
    ])
}

fn add_item_tool(list: List) -> Tool {
    Tool::new("add_item")
        .title("Add an item")
        .description("Puts an item on the list, or more of one that is already there. Answers how many are needed now.")
        .input_schema(json!({
            "type": "object",
            "properties": {
                "name": { "type": "string", "minLength": 1, "description": "What to buy, such as \"oat milk\"" },
                "quantity": { "type": "integer", "minimum": 1, "maximum": MOST, "default": 1 },
            },
            "required": ["name"],
            "additionalProperties": false,
        }))
        .output_schema(item_schema())
        .read_only(false)
        .destructive(false)
        .idempotent(false)
        .open_world(false)
        .handler(move |call| ready(add_item(&list, &call)))
}

fn list_items_tool(list: List) -> Tool {
    Tool::new("list_items")
        .title("Show the list")
        .description("Answers what is on the list, in the order it was added.")
        .input_schema(json!({ "type": "object", "additionalProperties": false }))
        .output_schema(json!({
            "type": "object",
            "properties": { "items": { "type": "array", "items": item_schema() } },
            "required": ["items"],
        }))
        .read_only(true)
        .open_world(false)
        .handler(move |_| ready(Json(Items { items: list.items().clone() })))
}

fn check_out_tool(list: List) -> Tool {
    Tool::new("check_out")
        .title("Check out")
        .description(
            "Walks through the shop and buys everything on the list, a second for each item, then takes what was bought \
             off the list. Fails when the list is empty. When it is cancelled, nothing was bought.",
        )
        .input_schema(json!({ "type": "object", "additionalProperties": false }))
        .output_schema(json!({
            "type": "object",
            "properties": { "bought": { "type": "array", "items": item_schema() } },
            "required": ["bought"],
        }))
        .read_only(false)
        .destructive(true)
        .idempotent(false)
        .open_world(false)
        .handler(move |_| check_out(list.clone()))
}

fn item_schema() -> Value {
    json!({
        "type": "object",
        "properties": { "name": { "type": "string" }, "quantity": { "type": "integer" } },
        "required": ["name", "quantity"],
    })
}

fn add_item(list: &List, call: &Call) -> Result<Json<Item>, ToolError> {
    let AddItem { name, quantity } = call.arguments()?;
    let name = name.trim();
    if name.is_empty() {
        return Err("the item needs a name; nothing was added".into());
    }
    list.add(name, quantity).map(Json)
}

async fn check_out(list: List) -> Result<Json<Bought>, ToolError> {
    let bought = list.items().clone();
    if bought.is_empty() {
        return Err("the list is empty, so there is nothing to buy; add an item first".into());
    }
    for _item in &bought {
        sleep(PER_ITEM).await;
    }
    list.take(&bought)?;
    Ok(Json(Bought { bought }))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AddItem {
    name: String,
    #[serde(default = "one")]
    quantity: u32,
}

fn one() -> u32 {
    1
}

#[derive(Serialize)]
struct Items {
    items: Vec<Item>,
}

#[derive(Serialize)]
struct Bought {
    bought: Vec<Item>,
}

/// An item, and how many of it are needed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Item {
    name: String,
    quantity: u32,
}

impl Item {
    fn is(&self, name: &str) -> bool {
        self.name.to_lowercase() == name.to_lowercase()
    }
}

/// The list itself: the state that a user interface would show as well.
#[derive(Clone, Default)]
struct List(Arc<Mutex<Vec<Item>>>);

impl List {
    fn items(&self) -> MutexGuard<'_, Vec<Item>> {
        // No change is ever half made, so a list that a panic left behind is a good one.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds to the item of this name, and answers it.
    fn add(&self, name: &str, quantity: u32) -> Result<Item, ToolError> {
        let mut items = self.items();
        let found = items.iter().position(|item| item.is(name));
        let has = found.map_or(0, |index| items[index].quantity);
        let needed = has.saturating_add(quantity);
        if quantity == 0 || needed > MOST {
            let reason = format!("there can be 1 to {MOST} of an item, and the list has {has}; nothing was added");
            return Err(ToolError::new(reason));
        }
        if let Some(index) = found {
            items[index].quantity = needed;
            return Ok(items[index].clone());
        }
        let item = Item { name: name.to_owned(), quantity: needed };
        items.push(item.clone());
        Ok(item)
    }

    /// Takes what was bought off the list. What was added meanwhile stays; what is gone was bought by another call.
    fn take(&self, bought: &[Item]) -> Result<(), ToolError> {
        let mut items = self.items();
        let all_there = bought.iter().all(|b| items.iter().any(|i| i.name == b.name && i.quantity >= b.quantity));
        if !all_there {
            return Err("somebody else checked out meanwhile; nothing was bought twice".into());
        }
        for b in bought {
            for item in items.iter_mut().filter(|item| item.name == b.name) {
                item.quantity -= b.quantity;
            }
        }
        items.retain(|item| item.quantity > 0);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(name: &str, quantity: u32) -> Item {
        Item { name: name.into(), quantity }
    }

    // holds: demo-call
    #[test]
    fn more_of_an_item_is_the_same_item() {
        let list = List::default();
        assert_eq!(list.add("Milk", 1), Ok(item("Milk", 1)));
        assert_eq!(list.add("milk", 98), Ok(item("Milk", 99)));
        for (name, quantity) in [("MILK", 1), ("Eggs", 100), ("Eggs", 0), ("Milk", u32::MAX)] {
            assert!(list.add(name, quantity).is_err(), "{name} {quantity}");
        }
        assert_eq!(*list.items(), [item("Milk", 99)]);
    }

    // holds: demo-call
    #[test]
    fn what_was_added_during_a_check_out_stays() {
        let list = List::default();
        list.add("Milk", 1).unwrap();
        let bought = list.items().clone();
        list.add("Milk", 2).unwrap();
        list.add("Eggs", 6).unwrap();
        list.take(&bought).unwrap();
        assert_eq!(*list.items(), [item("Milk", 2), item("Eggs", 6)]);
    }

    // holds: demo-call
    #[tokio::test(start_paused = true)]
    async fn two_check_outs_buy_nothing_twice() {
        let list = List::default();
        assert!(check_out(list.clone()).await.is_err(), "the list is empty");
        list.add("Milk", 1).unwrap();
        let (first, second) = tokio::join!(check_out(list.clone()), check_out(list.clone()));
        assert!(first.is_ok() != second.is_ok());
        assert!(list.items().is_empty());
    }
}
