//! Lines of every length. The conversation itself is tested with the app around it.

use tokio::io::AsyncWriteExt as _;

use super::lines::{Line, Lines};

// holds: desktop-line-too-long
#[tokio::test]
async fn lines_of_the_limit_are_read_and_longer_ones_are_dropped_whole() {
    let (full, over) = ("x".repeat(100), "y".repeat(101));
    let input = format!("a\n\n{full}\n{over}\nb\nno end");
    for capacity in [1, 7, 4_096] {
        // Read in pieces of at most so many bytes.
        let (mut written, read) = tokio::io::duplex(capacity);
        let text = input.clone();
        tokio::spawn(async move { written.write_all(text.as_bytes()).await });
        let mut lines = Lines::new(read, 100);
        for expected in ["a", "", &full] {
            assert_eq!(lines.next().await, Some(Line::Text(expected.into())));
        }
        assert_eq!(lines.next().await, Some(Line::TooLong));
        assert_eq!(lines.next().await, Some(Line::Text("b".into())));
        assert_eq!(lines.next().await, None);
    }
}
