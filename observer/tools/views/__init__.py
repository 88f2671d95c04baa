"""Values as text for models, terminals and context files."""
