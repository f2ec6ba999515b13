'use strict';

// What GraphiQL shows at first.
const introduction = `# Gadgets as one user account sees them.
#
# Put ids into the Variables pane below. In the Headers pane:
#   {"X-Tenant-Code": "acme"}
# says whose gadgets: use it only if the command had it, too.
#   {"Consistency-Token": "gadget-<gadget id>:<version>"}
# waits for what a command has answered.
#
# The book on the left describes every field.

query OneGadget($user: ID!, $gadget: ID!) {
  getGadget(gadgetId: $gadget, userAccountId: $user) {
    name
    version
  }
}

subscription Follow($user: ID!, $gadget: ID!) {
  gadgetChanged(gadgetId: $gadget, userAccountId: $user) {
    name
    version
  }
}
`;

const introductionVariables = '{\n  "user": "",\n  "gadget": ""\n}\n';
