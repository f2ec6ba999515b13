// Code generated from the OpenAPI document, the queries in comments and the GraphQL schema by go generate. DO NOT EDIT.
import type { Shape } from './check.ts';

export const shapes: Record<string, Shape> = {
 "AccountAnswer": {
  "type": [
   "object"
  ],
  "properties": {
   "account_id": {
    "type": [
     "string"
    ]
   },
   "version": {
    "type": [
     "integer"
    ]
   }
  },
  "required": [
   "account_id",
   "version"
  ]
 },
 "AddMember": {
  "type": [
   "object"
  ],
  "properties": {
   "executor_id": {
    "$ref": "Identifier"
   },
   "role": {
    "type": [
     "string"
    ],
    "enum": [
     "Admin",
     "Member"
    ]
   },
   "thread_id": {
    "$ref": "Identifier"
   },
   "user_account_id": {
    "$ref": "Identifier"
   }
  },
  "required": [
   "user_account_id",
   "role",
   "thread_id",
   "executor_id"
  ]
 },
 "CancelTask": {
  "type": [
   "object"
  ],
  "properties": {
   "executor_id": {
    "$ref": "Identifier"
   },
   "task_id": {
    "$ref": "Identifier"
   }
  },
  "required": [
   "task_id",
   "executor_id"
  ]
 },
 "ChangeMemberRole": {
  "type": [
   "object"
  ],
  "properties": {
   "executor_id": {
    "$ref": "Identifier"
   },
   "role": {
    "type": [
     "string"
    ],
    "enum": [
     "Admin",
     "Member"
    ]
   },
   "thread_id": {
    "$ref": "Identifier"
   },
   "user_account_id": {
    "$ref": "Identifier"
   }
  },
  "required": [
   "user_account_id",
   "role",
   "thread_id",
   "executor_id"
  ]
 },
 "CloseAccount": {
  "type": [
   "object"
  ],
  "properties": {
   "executor_id": {
    "$ref": "Identifier"
   }
  },
  "required": [
   "executor_id"
  ]
 },
 "CreateThread": {
  "type": [
   "object"
  ],
  "properties": {
   "executor_id": {
    "$ref": "Identifier"
   },
   "name": {
    "type": [
     "string"
    ]
   }
  },
  "required": [
   "name",
   "executor_id"
  ]
 },
 "CreatedAnswer": {
  "type": [
   "object"
  ],
  "properties": {
   "code": {
    "type": [
     "string"
    ]
   },
   "thread_id": {
    "type": [
     "string"
    ]
   },
   "version": {
    "type": [
     "integer"
    ]
   }
  },
  "required": [
   "thread_id",
   "version"
  ]
 },
 "DeleteMessage": {
  "type": [
   "object"
  ],
  "properties": {
   "executor_id": {
    "$ref": "Identifier"
   },
   "message_id": {
    "$ref": "Identifier"
   },
   "thread_id": {
    "$ref": "Identifier"
   }
  },
  "required": [
   "message_id",
   "thread_id",
   "executor_id"
  ]
 },
 "DeleteThread": {
  "type": [
   "object"
  ],
  "properties": {
   "executor_id": {
    "$ref": "Identifier"
   },
   "thread_id": {
    "$ref": "Identifier"
   }
  },
  "required": [
   "thread_id",
   "executor_id"
  ]
 },
 "DevUser": {
  "type": [
   "object"
  ],
  "properties": {
   "account": {
    "type": [
     "string"
    ]
   },
   "name": {
    "type": [
     "string"
    ]
   }
  },
  "required": [
   "name",
   "account"
  ]
 },
 "Difference": {
  "type": [
   "object"
  ],
  "properties": {
   "aid": {
    "type": [
     "string"
    ]
   },
   "expected": {
    "type": [
     "string"
    ]
   },
   "found": {
    "type": [
     "string"
    ]
   },
   "next": {
    "type": [
     "string"
    ]
   },
   "repaired": {
    "type": [
     "boolean"
    ]
   },
   "row": {
    "type": [
     "string"
    ]
   },
   "tenant": {
    "type": [
     "string"
    ]
   },
   "what": {
    "type": [
     "string"
    ]
   }
  },
  "required": [
   "repaired",
   "tenant",
   "aid",
   "row",
   "what",
   "expected",
   "found"
  ]
 },
 "EditMessage": {
  "type": [
   "object"
  ],
  "properties": {
   "executor_id": {
    "$ref": "Identifier"
   },
   "message_id": {
    "$ref": "Identifier"
   },
   "text": {
    "type": [
     "string"
    ]
   },
   "thread_id": {
    "$ref": "Identifier"
   }
  },
  "required": [
   "message_id",
   "text",
   "thread_id",
   "executor_id"
  ]
 },
 "EraseAccount": {
  "type": [
   "object"
  ],
  "properties": {
   "executor_id": {
    "$ref": "Identifier"
   }
  },
  "required": [
   "executor_id"
  ]
 },
 "Event": {
  "type": [
   "object"
  ],
  "properties": {
   "aid": {
    "type": [
     "string"
    ]
   },
   "event": {},
   "position": {
    "type": [
     "integer"
    ]
   },
   "seq_nr": {
    "type": [
     "integer"
    ]
   },
   "tenant": {
    "type": [
     "string"
    ]
   }
  },
  "required": [
   "seq_nr",
   "event",
   "tenant",
   "aid"
  ]
 },
 "ExportThread": {
  "type": [
   "object"
  ],
  "properties": {
   "executor_id": {
    "$ref": "Identifier"
   },
   "thread_id": {
    "$ref": "Identifier"
   }
  },
  "required": [
   "thread_id",
   "executor_id"
  ]
 },
 "Faults": {
  "type": [
   "object"
  ],
  "properties": {
   "break_next": {
    "type": [
     "boolean"
    ]
   },
   "dead": {
    "type": [
     "boolean"
    ]
   },
   "delay_ms": {
    "type": [
     "integer"
    ]
   },
   "delivery": {
    "type": [
     "string"
    ]
   },
   "hold_ms": {
    "type": [
     "integer"
    ]
   },
   "lose_answer": {
    "type": [
     "boolean"
    ]
   },
   "paused": {
    "type": [
     "boolean"
    ]
   },
   "replay_events": {
    "type": [
     "integer"
    ]
   },
   "replay_ms": {
    "type": [
     "integer"
    ]
   },
   "unreadable": {
    "type": [
     "integer"
    ]
   }
  },
  "required": [
   "paused",
   "dead",
   "delivery",
   "break_next",
   "unreadable",
   "delay_ms",
   "hold_ms",
   "replay_ms",
   "replay_events",
   "lose_answer"
  ]
 },
 "FieldError": {
  "type": [
   "object"
  ],
  "properties": {
   "location": {
    "type": [
     "string"
    ]
   },
   "message": {
    "type": [
     "string"
    ]
   }
  },
  "required": [
   "location",
   "message"
  ]
 },
 "Found": {
  "type": [
   "object"
  ],
  "properties": {
   "events": {
    "type": [
     "array"
    ],
    "items": {
     "$ref": "Event"
    }
   },
   "further": {
    "type": [
     "string"
    ]
   },
   "next": {
    "type": [
     "integer"
    ]
   }
  },
  "required": [
   "events"
  ]
 },
 "Health": {
  "type": [
   "object"
  ],
  "properties": {
   "active": {
    "type": [
     "boolean"
    ]
   },
   "behind_at_least": {
    "type": [
     "boolean"
    ]
   },
   "behind_records": {
    "type": [
     "integer"
    ]
   },
   "behind_seconds": {
    "type": [
     "number"
    ]
   },
   "drifted_aggregates": {
    "type": [
     "integer"
    ]
   },
   "parked_aggregates": {
    "type": [
     "integer"
    ]
   },
   "reason": {
    "type": [
     "string"
    ]
   },
   "rebuild": {
    "$ref": "Rebuild"
   },
   "status": {
    "type": [
     "string"
    ]
   },
   "warnings": {
    "type": [
     "array"
    ],
    "items": {
     "type": [
      "string"
     ]
    }
   }
  },
  "required": [
   "status"
  ]
 },
 "HistoryPage": {
  "type": [
   "object"
  ],
  "properties": {
   "edges": {
    "type": [
     "array"
    ],
    "items": {
     "type": [
      "object"
     ],
     "properties": {
      "node": {
       "type": [
        "object"
       ],
       "properties": {
        "causationId": {
         "type": [
          "string"
         ]
        },
        "commandId": {
         "type": [
          "string"
         ]
        },
        "correlationId": {
         "type": [
          "string"
         ]
        },
        "data": {},
        "eventId": {
         "type": [
          "string"
         ]
        },
        "executorId": {
         "type": [
          "string"
         ]
        },
        "occurredAt": {
         "type": [
          "string"
         ]
        },
        "requestId": {
         "type": [
          "string"
         ]
        },
        "seqNr": {
         "type": [
          "integer"
         ]
        },
        "source": {
         "type": [
          "string"
         ]
        },
        "type": {
         "type": [
          "string"
         ]
        }
       },
       "required": [
        "seqNr",
        "eventId",
        "type",
        "occurredAt",
        "executorId",
        "commandId",
        "correlationId",
        "causationId",
        "source",
        "requestId",
        "data"
       ]
      }
     },
     "required": [
      "node"
     ]
    }
   }
  },
  "required": [
   "edges"
  ]
 },
 "Identifier": {
  "anyOf": [
   {
    "type": [
     "string"
    ]
   },
   {
    "type": [
     "string"
    ]
   },
   {
    "type": [
     "object"
    ],
    "properties": {
     "value": {
      "type": [
       "string"
      ]
     }
    },
    "required": [
     "value"
    ]
   }
  ]
 },
 "Letter": {
  "type": [
   "object"
  ],
  "properties": {
   "aid": {
    "type": [
     "string"
    ]
   },
   "attempts": {
    "type": [
     "integer"
    ]
   },
   "event": {},
   "event_id": {
    "type": [
     "string"
    ]
   },
   "next": {
    "type": [
     "string"
    ]
   },
   "parked_at": {
    "type": [
     "string"
    ]
   },
   "projection": {
    "type": [
     "string"
    ]
   },
   "reason": {
    "type": [
     "string"
    ]
   },
   "retry_at": {
    "type": [
     "string"
    ]
   },
   "seq_nr": {
    "type": [
     "integer"
    ]
   },
   "tenant": {
    "type": [
     "string"
    ]
   }
  },
  "required": [
   "tenant",
   "aid",
   "projection",
   "seq_nr",
   "event_id",
   "reason",
   "attempts",
   "parked_at",
   "retry_at"
  ]
 },
 "Letters": {
  "type": [
   "object"
  ],
  "properties": {
   "parked": {
    "type": [
     "array"
    ],
    "items": {
     "$ref": "Letter"
    }
   }
  },
  "required": [
   "parked"
  ]
 },
 "ListedThread": {
  "type": [
   "object"
  ],
  "properties": {
   "id": {
    "type": [
     "string"
    ]
   },
   "name": {
    "type": [
     "string"
    ]
   },
   "updatedAt": {
    "type": [
     "string"
    ]
   },
   "version": {
    "type": [
     "integer"
    ]
   }
  },
  "required": [
   "id",
   "name",
   "version",
   "updatedAt"
  ]
 },
 "MemberAnswer": {
  "type": [
   "object"
  ],
  "properties": {
   "member_id": {
    "type": [
     "string"
    ]
   },
   "thread_id": {
    "type": [
     "string"
    ]
   },
   "version": {
    "type": [
     "integer"
    ]
   }
  },
  "required": [
   "member_id",
   "thread_id",
   "version"
  ]
 },
 "MemberPage": {
  "type": [
   "object"
  ],
  "properties": {
   "edges": {
    "type": [
     "array"
    ],
    "items": {
     "type": [
      "object"
     ],
     "properties": {
      "node": {
       "$ref": "ShownMember"
      }
     },
     "required": [
      "node"
     ]
    }
   },
   "pageInfo": {
    "type": [
     "object"
    ],
    "properties": {
     "endCursor": {
      "anyOf": [
       {
        "type": [
         "string"
        ]
       },
       {
        "type": [
         "null"
        ]
       }
      ]
     },
     "hasNextPage": {
      "type": [
       "boolean"
      ]
     }
    },
    "required": [
     "hasNextPage",
     "endCursor"
    ]
   }
  },
  "required": [
   "edges",
   "pageInfo"
  ]
 },
 "MessageAnswer": {
  "type": [
   "object"
  ],
  "properties": {
   "message_id": {
    "type": [
     "string"
    ]
   },
   "thread_id": {
    "type": [
     "string"
    ]
   },
   "version": {
    "type": [
     "integer"
    ]
   }
  },
  "required": [
   "message_id",
   "thread_id",
   "version"
  ]
 },
 "MessagePage": {
  "type": [
   "object"
  ],
  "properties": {
   "edges": {
    "type": [
     "array"
    ],
    "items": {
     "type": [
      "object"
     ],
     "properties": {
      "node": {
       "$ref": "ShownMessage"
      }
     },
     "required": [
      "node"
     ]
    }
   },
   "pageInfo": {
    "type": [
     "object"
    ],
    "properties": {
     "hasPreviousPage": {
      "type": [
       "boolean"
      ]
     },
     "startCursor": {
      "anyOf": [
       {
        "type": [
         "string"
        ]
       },
       {
        "type": [
         "null"
        ]
       }
      ]
     }
    },
    "required": [
     "hasPreviousPage",
     "startCursor"
    ]
   }
  },
  "required": [
   "edges",
   "pageInfo"
  ]
 },
 "NewRows": {
  "type": [
   "object"
  ],
  "properties": {
   "count": {
    "type": [
     "integer"
    ]
   },
   "made": {
    "type": [
     "boolean"
    ]
   },
   "members": {
    "type": [
     "array"
    ],
    "items": {
     "type": [
      "string"
     ]
    }
   },
   "messages": {
    "type": [
     "array"
    ],
    "items": {
     "type": [
      "string"
     ]
    }
   },
   "version": {
    "type": [
     "integer"
    ]
   }
  },
  "required": [
   "made",
   "version",
   "members",
   "messages",
   "count"
  ]
 },
 "News": {
  "type": [
   "object"
  ],
  "properties": {
   "events": {
    "type": [
     "array"
    ],
    "items": {
     "$ref": "Event"
    }
   },
   "head": {
    "type": [
     "integer"
    ]
   },
   "ordered": {
    "type": [
     "boolean"
    ]
   },
   "projected": {
    "type": [
     "array"
    ],
    "items": {
     "$ref": "Projected"
    }
   },
   "skipped": {
    "type": [
     "integer"
    ]
   }
  }
 },
 "OnTenant": {
  "type": [
   "object"
  ],
  "properties": {
   "executor_id": {
    "$ref": "Identifier"
   },
   "tenant_code": {
    "type": [
     "string"
    ]
   }
  },
  "required": [
   "tenant_code",
   "executor_id"
  ]
 },
 "Order": {
  "type": [
   "object"
  ],
  "properties": {
   "aid": {
    "type": [
     "string"
    ]
   },
   "projection": {
    "type": [
     "string"
    ]
   },
   "reason": {
    "type": [
     "string"
    ]
   },
   "repair": {
    "type": [
     "boolean"
    ]
   },
   "seq_nr": {
    "type": [
     "integer"
    ]
   },
   "tenant": {
    "type": [
     "string"
    ]
   }
  },
  "required": [
   "projection",
   "tenant",
   "aid",
   "seq_nr",
   "reason",
   "repair"
  ]
 },
 "Past": {
  "type": [
   "object"
  ],
  "properties": {
   "deleted": {
    "type": [
     "boolean"
    ]
   },
   "members": {
    "type": [
     "array"
    ],
    "items": {
     "type": [
      "object"
     ],
     "properties": {
      "role": {
       "type": [
        "string"
       ],
       "enum": [
        "ADMIN",
        "MEMBER"
       ]
      },
      "userAccountId": {
       "type": [
        "string"
       ]
      }
     },
     "required": [
      "userAccountId",
      "role"
     ]
    }
   },
   "messages": {
    "type": [
     "array"
    ],
    "items": {
     "type": [
      "object"
     ],
     "properties": {
      "id": {
       "type": [
        "string"
       ]
      },
      "text": {
       "type": [
        "string"
       ]
      },
      "userAccountId": {
       "type": [
        "string"
       ]
      }
     },
     "required": [
      "id",
      "userAccountId",
      "text"
     ]
    }
   },
   "name": {
    "type": [
     "string"
    ]
   },
   "version": {
    "type": [
     "integer"
    ]
   }
  },
  "required": [
   "version",
   "name",
   "deleted",
   "members",
   "messages"
  ]
 },
 "PostMessage": {
  "type": [
   "object"
  ],
  "properties": {
   "executor_id": {
    "$ref": "Identifier"
   },
   "text": {
    "type": [
     "string"
    ]
   },
   "thread_id": {
    "$ref": "Identifier"
   }
  },
  "required": [
   "text",
   "thread_id",
   "executor_id"
  ]
 },
 "Problem": {
  "type": [
   "object"
  ],
  "properties": {
   "code": {
    "type": [
     "string"
    ]
   },
   "current_version": {
    "type": [
     "integer"
    ]
   },
   "detail": {
    "type": [
     "string"
    ]
   },
   "errors": {
    "type": [
     "array"
    ],
    "items": {
     "$ref": "FieldError"
    }
   },
   "status": {
    "type": [
     "integer"
    ]
   },
   "title": {
    "type": [
     "string"
    ]
   }
  },
  "required": [
   "status",
   "title",
   "detail",
   "code"
  ]
 },
 "ProgramStatus": {
  "type": [
   "object"
  ],
  "properties": {
   "figures": {
    "type": [
     "object"
    ],
    "values": {
     "type": [
      "number"
     ]
    }
   },
   "health": {
    "$ref": "Health"
   },
   "name": {
    "type": [
     "string"
    ]
   },
   "up": {
    "type": [
     "boolean"
    ]
   }
  },
  "required": [
   "name",
   "up",
   "figures"
  ]
 },
 "Projected": {
  "type": [
   "object"
  ],
  "properties": {
   "aid": {
    "type": [
     "string"
    ]
   },
   "tenant": {
    "type": [
     "string"
    ]
   },
   "version": {
    "type": [
     "integer"
    ]
   }
  },
  "required": [
   "version",
   "tenant",
   "aid"
  ]
 },
 "Rebuild": {
  "type": [
   "object"
  ],
  "properties": {
   "events": {
    "type": [
     "integer"
    ]
   },
   "events_total": {
    "type": [
     "integer"
    ]
   },
   "failure": {
    "type": [
     "string"
    ]
   },
   "interrupted": {
    "type": [
     "boolean"
    ]
   },
   "phase": {
    "type": [
     "string"
    ]
   }
  },
  "required": [
   "phase",
   "events",
   "events_total",
   "interrupted"
  ]
 },
 "RegisterAccount": {
  "type": [
   "object"
  ],
  "properties": {
   "executor_id": {
    "$ref": "Identifier"
   },
   "name": {
    "type": [
     "string"
    ]
   }
  },
  "required": [
   "name",
   "executor_id"
  ]
 },
 "RejectedLine": {
  "type": [
   "object"
  ],
  "properties": {
   "line": {
    "type": [
     "integer"
    ]
   },
   "problem": {},
   "request": {},
   "sealed": {
    "type": [
     "string"
    ]
   }
  },
  "required": [
   "line",
   "problem"
  ]
 },
 "RemoveMember": {
  "type": [
   "object"
  ],
  "properties": {
   "executor_id": {
    "$ref": "Identifier"
   },
   "thread_id": {
    "$ref": "Identifier"
   },
   "user_account_id": {
    "$ref": "Identifier"
   }
  },
  "required": [
   "user_account_id",
   "thread_id",
   "executor_id"
  ]
 },
 "RenameAccount": {
  "type": [
   "object"
  ],
  "properties": {
   "executor_id": {
    "$ref": "Identifier"
   },
   "name": {
    "type": [
     "string"
    ]
   }
  },
  "required": [
   "name",
   "executor_id"
  ]
 },
 "RenameThread": {
  "type": [
   "object"
  ],
  "properties": {
   "executor_id": {
    "$ref": "Identifier"
   },
   "name": {
    "type": [
     "string"
    ]
   },
   "thread_id": {
    "$ref": "Identifier"
   }
  },
  "required": [
   "name",
   "thread_id",
   "executor_id"
  ]
 },
 "Seed": {
  "type": [
   "object"
  ],
  "properties": {
   "count": {
    "type": [
     "integer"
    ]
   },
   "first": {
    "type": [
     "integer"
    ]
   },
   "message": {
    "type": [
     "object"
    ],
    "values": {
     "type": [
      "string"
     ]
    }
   }
  },
  "required": [
   "message",
   "first",
   "count"
  ]
 },
 "SessionAnswer": {
  "type": [
   "object"
  ],
  "properties": {
   "account": {
    "type": [
     "string"
    ]
   },
   "auth": {
    "type": [
     "string"
    ]
   },
   "csrf": {
    "type": [
     "string"
    ]
   },
   "lab": {
    "type": [
     "boolean"
    ]
   },
   "name": {
    "type": [
     "string"
    ]
   },
   "operator": {
    "type": [
     "boolean"
    ]
   },
   "users": {
    "type": [
     "array"
    ],
    "items": {
     "$ref": "DevUser"
    }
   }
  },
  "required": [
   "auth",
   "lab",
   "operator"
  ]
 },
 "ShownMember": {
  "type": [
   "object"
  ],
  "properties": {
   "account": {
    "anyOf": [
     {
      "type": [
       "object"
      ],
      "properties": {
       "closed": {
        "type": [
         "boolean"
        ]
       },
       "name": {
        "type": [
         "string"
        ]
       }
      },
      "required": [
       "name",
       "closed"
      ]
     },
     {
      "type": [
       "null"
      ]
     }
    ]
   },
   "id": {
    "type": [
     "string"
    ]
   },
   "role": {
    "type": [
     "string"
    ],
    "enum": [
     "ADMIN",
     "MEMBER"
    ]
   },
   "userAccountId": {
    "type": [
     "string"
    ]
   }
  },
  "required": [
   "id",
   "userAccountId",
   "role",
   "account"
  ]
 },
 "ShownMessage": {
  "type": [
   "object"
  ],
  "properties": {
   "createdAt": {
    "type": [
     "string"
    ]
   },
   "id": {
    "type": [
     "string"
    ]
   },
   "sender": {
    "anyOf": [
     {
      "type": [
       "object"
      ],
      "properties": {
       "name": {
        "type": [
         "string"
        ]
       }
      },
      "required": [
       "name"
      ]
     },
     {
      "type": [
       "null"
      ]
     }
    ]
   },
   "text": {
    "type": [
     "string"
    ]
   },
   "updatedAt": {
    "type": [
     "string"
    ]
   },
   "userAccountId": {
    "type": [
     "string"
    ]
   }
  },
  "required": [
   "id",
   "userAccountId",
   "text",
   "createdAt",
   "updatedAt",
   "sender"
  ]
 },
 "ShownTask": {
  "type": [
   "object"
  ],
  "properties": {
   "createdAt": {
    "type": [
     "string"
    ]
   },
   "createdBy": {
    "type": [
     "string"
    ]
   },
   "done": {
    "type": [
     "integer"
    ]
   },
   "id": {
    "type": [
     "string"
    ]
   },
   "kind": {
    "type": [
     "string"
    ]
   },
   "message": {
    "type": [
     "string"
    ]
   },
   "rejected": {
    "type": [
     "integer"
    ]
   },
   "status": {
    "type": [
     "string"
    ]
   },
   "taskId": {
    "type": [
     "string"
    ]
   },
   "total": {
    "type": [
     "integer"
    ]
   },
   "updatedAt": {
    "type": [
     "string"
    ]
   },
   "version": {
    "type": [
     "integer"
    ]
   }
  },
  "required": [
   "id",
   "taskId",
   "kind",
   "status",
   "done",
   "total",
   "rejected",
   "message",
   "version",
   "createdAt",
   "updatedAt",
   "createdBy"
  ]
 },
 "ShownThread": {
  "type": [
   "object"
  ],
  "properties": {
   "id": {
    "type": [
     "string"
    ]
   },
   "members": {
    "$ref": "MemberPage"
   },
   "messages": {
    "$ref": "MessagePage"
   },
   "name": {
    "type": [
     "string"
    ]
   },
   "version": {
    "type": [
     "integer"
    ]
   }
  },
  "required": [
   "id",
   "name",
   "version",
   "members",
   "messages"
  ]
 },
 "SnapshotAnswer": {
  "type": [
   "object"
  ],
  "properties": {
   "snapshot_version": {
    "type": [
     "integer"
    ]
   },
   "thread_id": {
    "type": [
     "string"
    ]
   }
  },
  "required": [
   "thread_id",
   "snapshot_version"
  ]
 },
 "StatusAnswer": {
  "type": [
   "object"
  ],
  "properties": {
   "programs": {
    "type": [
     "array"
    ],
    "items": {
     "$ref": "ProgramStatus"
    }
   }
  },
  "required": [
   "programs"
  ]
 },
 "TakeSnapshot": {
  "type": [
   "object"
  ],
  "properties": {
   "executor_id": {
    "$ref": "Identifier"
   },
   "thread_id": {
    "$ref": "Identifier"
   }
  },
  "required": [
   "thread_id",
   "executor_id"
  ]
 },
 "TaskAnswer": {
  "type": [
   "object"
  ],
  "properties": {
   "created_at": {
    "type": [
     "string"
    ]
   },
   "created_by": {
    "type": [
     "string"
    ]
   },
   "done": {
    "type": [
     "integer"
    ]
   },
   "kind": {
    "type": [
     "string"
    ],
    "enum": [
     "import",
     "export_thread",
     "command"
    ]
   },
   "message": {
    "type": [
     "string"
    ]
   },
   "rejected": {
    "type": [
     "integer"
    ]
   },
   "status": {
    "type": [
     "string"
    ],
    "enum": [
     "queued",
     "running",
     "succeeded",
     "failed",
     "cancelled"
    ]
   },
   "task_id": {
    "type": [
     "string"
    ]
   },
   "total": {
    "type": [
     "integer"
    ]
   },
   "updated_at": {
    "type": [
     "string"
    ]
   }
  },
  "required": [
   "task_id",
   "kind",
   "status",
   "done",
   "total",
   "rejected",
   "message",
   "created_at",
   "updated_at",
   "created_by"
  ]
 },
 "TaskReply": {
  "type": [
   "object"
  ],
  "properties": {
   "task_id": {
    "type": [
     "string"
    ]
   }
  },
  "required": [
   "task_id"
  ]
 },
 "TenantAnswer": {
  "type": [
   "object"
  ],
  "properties": {
   "tenant_code": {
    "type": [
     "string"
    ]
   },
   "version": {
    "type": [
     "integer"
    ]
   }
  },
  "required": [
   "tenant_code",
   "version"
  ]
 },
 "ThreadAnswer": {
  "type": [
   "object"
  ],
  "properties": {
   "thread_id": {
    "type": [
     "string"
    ]
   },
   "version": {
    "type": [
     "integer"
    ]
   }
  },
  "required": [
   "thread_id",
   "version"
  ]
 },
 "Verification": {
  "type": [
   "object"
  ],
  "properties": {
   "complete": {
    "type": [
     "boolean"
    ]
   },
   "differences": {
    "type": [
     "array"
    ],
    "items": {
     "$ref": "Difference"
    }
   },
   "repaired": {
    "type": [
     "integer"
    ]
   },
   "verified": {
    "type": [
     "integer"
    ]
   },
   "wrong": {
    "type": [
     "integer"
    ]
   }
  },
  "required": [
   "verified",
   "wrong",
   "repaired",
   "complete",
   "differences"
  ]
 }
};

export const answers: Record<string, Shape> = {
 "GET /lab/new-rows": {
  "$ref": "NewRows"
 },
 "GET /lab/state": {
  "$ref": "Faults"
 },
 "GET /operate/dead-letters": {
  "$ref": "Letters"
 },
 "GET /operate/events": {
  "$ref": "News"
 },
 "GET /operate/journal": {
  "$ref": "Found"
 },
 "GET /session": {
  "$ref": "SessionAnswer"
 },
 "GET /status": {
  "$ref": "StatusAnswer"
 },
 "GET /tasks/{task_id}": {
  "$ref": "TaskAnswer"
 },
 "GET /tasks/{task_id}/result": {
  "type": [
   "string"
  ]
 },
 "POST /accounts/close": {
  "$ref": "AccountAnswer"
 },
 "POST /accounts/erase": {
  "$ref": "AccountAnswer"
 },
 "POST /accounts/register": {
  "$ref": "AccountAnswer"
 },
 "POST /accounts/rename": {
  "$ref": "AccountAnswer"
 },
 "POST /lab/second-writer": {
  "$ref": "MessageAnswer"
 },
 "POST /lab/seed": {
  "$ref": "Seed"
 },
 "POST /lab/state": {
  "$ref": "Faults"
 },
 "POST /operate/dead-letters/retry": {
  "type": [
   "object"
  ],
  "values": {
   "type": [
    "boolean"
   ]
  }
 },
 "POST /operate/dead-letters/skip": {
  "type": [
   "object"
  ],
  "values": {
   "type": [
    "boolean"
   ]
  }
 },
 "POST /operate/rows/rebuild": {
  "type": [
   "object"
  ],
  "values": {
   "type": [
    "boolean"
   ]
  }
 },
 "POST /operate/rows/verify": {
  "$ref": "Verification"
 },
 "POST /tasks/cancel": {
  "$ref": "TaskReply"
 },
 "POST /tasks/export_thread": {
  "$ref": "TaskReply"
 },
 "POST /tasks/import": {
  "$ref": "TaskReply"
 },
 "POST /tenants/create": {
  "$ref": "TenantAnswer"
 },
 "POST /tenants/reactivate": {
  "$ref": "TenantAnswer"
 },
 "POST /tenants/suspend": {
  "$ref": "TenantAnswer"
 },
 "POST /threads/add_member": {
  "$ref": "MemberAnswer"
 },
 "POST /threads/change_member_role": {
  "$ref": "MemberAnswer"
 },
 "POST /threads/create": {
  "$ref": "CreatedAnswer"
 },
 "POST /threads/delete": {
  "$ref": "ThreadAnswer"
 },
 "POST /threads/delete_message": {
  "$ref": "MessageAnswer"
 },
 "POST /threads/edit_message": {
  "$ref": "MessageAnswer"
 },
 "POST /threads/post_message": {
  "$ref": "MessageAnswer"
 },
 "POST /threads/remove_member": {
  "$ref": "MemberAnswer"
 },
 "POST /threads/rename": {
  "$ref": "ThreadAnswer"
 },
 "POST /threads/snapshot": {
  "$ref": "SnapshotAnswer"
 },
 "account": {
  "type": [
   "object"
  ],
  "properties": {
   "getAccount": {
    "type": [
     "object"
    ],
    "properties": {
     "closed": {
      "type": [
       "boolean"
      ]
     },
     "id": {
      "type": [
       "string"
      ]
     },
     "name": {
      "type": [
       "string"
      ]
     },
     "version": {
      "type": [
       "integer"
      ]
     }
    },
    "required": [
     "id",
     "name",
     "closed",
     "version"
    ]
   }
  },
  "required": [
   "getAccount"
  ]
 },
 "accountHistory": {
  "type": [
   "object"
  ],
  "properties": {
   "page": {
    "$ref": "HistoryPage"
   }
  },
  "required": [
   "page"
  ]
 },
 "accountRow": {
  "type": [
   "object"
  ],
  "properties": {
   "row": {
    "type": [
     "object"
    ],
    "properties": {
     "closed": {
      "type": [
       "boolean"
      ]
     },
     "createdAt": {
      "type": [
       "string"
      ]
     },
     "id": {
      "type": [
       "string"
      ]
     },
     "name": {
      "type": [
       "string"
      ]
     },
     "updatedAt": {
      "type": [
       "string"
      ]
     },
     "version": {
      "type": [
       "integer"
      ]
     }
    },
    "required": [
     "id",
     "name",
     "closed",
     "version",
     "createdAt",
     "updatedAt"
    ]
   }
  },
  "required": [
   "row"
  ]
 },
 "earlierMessages": {
  "type": [
   "object"
  ],
  "properties": {
   "getThread": {
    "type": [
     "object"
    ],
    "properties": {
     "messages": {
      "$ref": "MessagePage"
     }
    },
    "required": [
     "messages"
    ]
   }
  },
  "required": [
   "getThread"
  ]
 },
 "furtherMembers": {
  "type": [
   "object"
  ],
  "properties": {
   "getThread": {
    "type": [
     "object"
    ],
    "properties": {
     "members": {
      "$ref": "MemberPage"
     }
    },
    "required": [
     "members"
    ]
   }
  },
  "required": [
   "getThread"
  ]
 },
 "lastMessages": {
  "type": [
   "object"
  ],
  "properties": {
   "getThread": {
    "type": [
     "object"
    ],
    "properties": {
     "messages": {
      "type": [
       "object"
      ],
      "properties": {
       "edges": {
        "type": [
         "array"
        ],
        "items": {
         "type": [
          "object"
         ],
         "properties": {
          "node": {
           "type": [
            "object"
           ],
           "properties": {
            "createdAt": {
             "type": [
              "string"
             ]
            },
            "userAccountId": {
             "type": [
              "string"
             ]
            }
           },
           "required": [
            "userAccountId",
            "createdAt"
           ]
          }
         },
         "required": [
          "node"
         ]
        }
       }
      },
      "required": [
       "edges"
      ]
     }
    },
    "required": [
     "messages"
    ]
   }
  },
  "required": [
   "getThread"
  ]
 },
 "memberRow": {
  "type": [
   "object"
  ],
  "properties": {
   "row": {
    "type": [
     "object"
    ],
    "properties": {
     "createdAt": {
      "type": [
       "string"
      ]
     },
     "id": {
      "type": [
       "string"
      ]
     },
     "role": {
      "type": [
       "string"
      ],
      "enum": [
       "ADMIN",
       "MEMBER"
      ]
     },
     "threadId": {
      "type": [
       "string"
      ]
     },
     "updatedAt": {
      "type": [
       "string"
      ]
     },
     "updatedBy": {
      "type": [
       "string"
      ]
     },
     "userAccountId": {
      "type": [
       "string"
      ]
     }
    },
    "required": [
     "id",
     "threadId",
     "userAccountId",
     "role",
     "createdAt",
     "updatedAt",
     "updatedBy"
    ]
   }
  },
  "required": [
   "row"
  ]
 },
 "messageRow": {
  "type": [
   "object"
  ],
  "properties": {
   "row": {
    "type": [
     "object"
    ],
    "properties": {
     "createdAt": {
      "type": [
       "string"
      ]
     },
     "id": {
      "type": [
       "string"
      ]
     },
     "text": {
      "type": [
       "string"
      ]
     },
     "threadId": {
      "type": [
       "string"
      ]
     },
     "updatedAt": {
      "type": [
       "string"
      ]
     },
     "updatedBy": {
      "type": [
       "string"
      ]
     },
     "userAccountId": {
      "type": [
       "string"
      ]
     }
    },
    "required": [
     "id",
     "threadId",
     "userAccountId",
     "text",
     "createdAt",
     "updatedAt",
     "updatedBy"
    ]
   }
  },
  "required": [
   "row"
  ]
 },
 "ownMember": {
  "type": [
   "object"
  ],
  "properties": {
   "getMember": {
    "$ref": "ShownMember"
   }
  },
  "required": [
   "getMember"
  ]
 },
 "taskChanged": {
  "type": [
   "object"
  ],
  "properties": {
   "taskChanged": {
    "$ref": "ShownTask"
   }
  },
  "required": [
   "taskChanged"
  ]
 },
 "taskList": {
  "type": [
   "object"
  ],
  "properties": {
   "tasks": {
    "type": [
     "object"
    ],
    "properties": {
     "edges": {
      "type": [
       "array"
      ],
      "items": {
       "type": [
        "object"
       ],
       "properties": {
        "node": {
         "$ref": "ShownTask"
        }
       },
       "required": [
        "node"
       ]
      }
     },
     "pageInfo": {
      "type": [
       "object"
      ],
      "properties": {
       "endCursor": {
        "anyOf": [
         {
          "type": [
           "string"
          ]
         },
         {
          "type": [
           "null"
          ]
         }
        ]
       },
       "hasNextPage": {
        "type": [
         "boolean"
        ]
       }
      },
      "required": [
       "hasNextPage",
       "endCursor"
      ]
     }
    },
    "required": [
     "edges",
     "pageInfo"
    ]
   }
  },
  "required": [
   "tasks"
  ]
 },
 "threadAt": {
  "type": [
   "object"
  ],
  "properties": {
   "threadAt": {
    "$ref": "Past"
   }
  },
  "required": [
   "threadAt"
  ]
 },
 "threadChanged": {
  "type": [
   "object"
  ],
  "properties": {
   "threadChanged": {
    "$ref": "ShownThread"
   }
  },
  "required": [
   "threadChanged"
  ]
 },
 "threadHistory": {
  "type": [
   "object"
  ],
  "properties": {
   "page": {
    "$ref": "HistoryPage"
   }
  },
  "required": [
   "page"
  ]
 },
 "threadList": {
  "type": [
   "object"
  ],
  "properties": {
   "threads": {
    "type": [
     "object"
    ],
    "properties": {
     "edges": {
      "type": [
       "array"
      ],
      "items": {
       "type": [
        "object"
       ],
       "properties": {
        "node": {
         "$ref": "ListedThread"
        }
       },
       "required": [
        "node"
       ]
      }
     },
     "pageInfo": {
      "type": [
       "object"
      ],
      "properties": {
       "endCursor": {
        "anyOf": [
         {
          "type": [
           "string"
          ]
         },
         {
          "type": [
           "null"
          ]
         }
        ]
       },
       "hasNextPage": {
        "type": [
         "boolean"
        ]
       }
      },
      "required": [
       "hasNextPage",
       "endCursor"
      ]
     }
    },
    "required": [
     "edges",
     "pageInfo"
    ]
   }
  },
  "required": [
   "threads"
  ]
 },
 "threadRow": {
  "type": [
   "object"
  ],
  "properties": {
   "row": {
    "type": [
     "object"
    ],
    "properties": {
     "code": {
      "anyOf": [
       {
        "type": [
         "string"
        ]
       },
       {
        "type": [
         "null"
        ]
       }
      ]
     },
     "createdAt": {
      "type": [
       "string"
      ]
     },
     "id": {
      "type": [
       "string"
      ]
     },
     "name": {
      "type": [
       "string"
      ]
     },
     "ownerId": {
      "type": [
       "string"
      ]
     },
     "updatedAt": {
      "type": [
       "string"
      ]
     },
     "updatedBy": {
      "type": [
       "string"
      ]
     },
     "version": {
      "type": [
       "integer"
      ]
     }
    },
    "required": [
     "id",
     "name",
     "code",
     "ownerId",
     "version",
     "createdAt",
     "updatedAt",
     "updatedBy"
    ]
   }
  },
  "required": [
   "row"
  ]
 },
 "threadVersion": {
  "type": [
   "object"
  ],
  "properties": {
   "getThread": {
    "type": [
     "object"
    ],
    "properties": {
     "version": {
      "type": [
       "integer"
      ]
     }
    },
    "required": [
     "version"
    ]
   }
  },
  "required": [
   "getThread"
  ]
 }
};
