package graphql_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"

	"example.com/threads/interfaceadaptor/graphql/generated"
)

// TestTheSchemaIsTheOneThatWasPromised compares the operations with those that clients rely on, and checks that
// everything has a description.
func TestTheSchemaIsTheOneThatWasPromised(t *testing.T) {
	schema := generated.Schema()
	var signatures []string
	for _, name := range []string{"Query", "Subscription", "Thread", "Member", "Message", "Account"} {
		for _, field := range schema.Types[name].Fields {
			if strings.HasPrefix(field.Name, "__") {
				continue
			}
			var arguments []string
			for _, argument := range field.Arguments {
				text := argument.Name + ": " + argument.Type.String()
				if argument.DefaultValue != nil {
					text += " = " + argument.DefaultValue.String()
				}
				arguments = append(arguments, text)
			}
			signatures = append(signatures, name+"."+field.Name+"("+strings.Join(arguments, ", ")+"): "+field.Type.String())
		}
	}
	want := strings.Split(strings.TrimSpace(`
Query.getThread(threadId: ID!, userAccountId: ID!): Thread!
Query.getThreads(userAccountId: ID!, first: Int = 50, after: String): [Thread!]!
Query.getMember(threadId: ID!, userAccountId: ID!): Member!
Query.getMembers(threadId: ID!, userAccountId: ID!, first: Int = 50, after: String): [Member!]!
Query.getMessage(messageId: ID!, userAccountId: ID!): Message!
Query.getMessages(threadId: ID!, userAccountId: ID!, first: Int = 100, after: String): [Message!]!
Query.getAccount(accountId: ID!): Account!
Query.threads(userAccountId: ID!, first: Int, after: String, last: Int, before: String): ThreadConnection!
Subscription.threadChanged(threadId: ID!, userAccountId: ID!): Thread!
Thread.id(): ID!
Thread.name(): String!
Thread.ownerId(): ID!
Thread.version(): Int!
Thread.createdAt(): Time!
Thread.updatedAt(): Time!
Thread.members(first: Int = 50, after: String): MemberConnection!
Thread.messages(first: Int, after: String, last: Int, before: String): MessageConnection!
Member.id(): ID!
Member.threadId(): ID!
Member.userAccountId(): ID!
Member.account(): Account
Member.role(): Role!
Member.createdAt(): Time!
Member.updatedAt(): Time!
Message.id(): ID!
Message.threadId(): ID!
Message.userAccountId(): ID!
Message.sender(): Account
Message.text(): String!
Message.createdAt(): Time!
Message.updatedAt(): Time!
Account.id(): ID!
Account.name(): String!
Account.closed(): Boolean!
Account.version(): Int!
Account.createdAt(): Time!
Account.updatedAt(): Time!`), "\n")
	// Additions break no client.
	for _, promised := range want {
		if !slices.Contains(signatures, promised) {
			t.Errorf("there is no %s in\n%s", promised, strings.Join(signatures, "\n"))
		}
	}

	for name, definition := range schema.Types {
		if definition.BuiltIn {
			continue
		}
		if definition.Description == "" {
			t.Errorf("%s is not described", name)
		}
		describeFields(t, name, definition)
	}
}

func describeFields(t *testing.T, name string, definition *ast.Definition) {
	t.Helper()
	for _, value := range definition.EnumValues {
		if value.Description == "" {
			t.Errorf("%s.%s is not described", name, value.Name)
		}
	}
	for _, field := range definition.Fields {
		if strings.HasPrefix(field.Name, "__") {
			continue
		}
		if field.Description == "" {
			t.Errorf("%s.%s is not described", name, field.Name)
		}
		for _, argument := range field.Arguments {
			if argument.Description == "" {
				t.Errorf("%s.%s(%s:) is not described", name, field.Name, argument.Name)
			}
		}
	}
}
