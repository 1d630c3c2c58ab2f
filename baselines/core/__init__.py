"""What the families share: registering measures, training examples, outputs, margins, and work that is done once."""
