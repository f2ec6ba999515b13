// extra:chat

package documents

import (
	"strconv"
	"strings"
)

// shape is a document of any size: head, many times first, middle, as many times second, tail. ~ is replaced by the
// number of the repetition, in middle by their number, and ^ by the next number.
type shape struct{ head, first, middle, second, tail string }

// shapes are documents with a validation that is not linear in their size.
var shapes = map[string]shape{
	"repeated fields":                  {`{` + oneThread + `{`, `id `, ``, ``, `}}`},
	"repeated __typename":              {`{`, `__typename `, ``, ``, `}`},
	"repeated objects":                 {`{`, `__type(name:"x"){name}`, ``, ``, `}`},
	"repeated nested objects":          {`{__type(name:"x"){`, `ofType{ofType{name}}`, ``, ``, `}}`},
	"aliases":                          {`{` + oneThread + `{`, `a~:id `, ``, ``, `}}`},
	"aliased objects":                  {`{`, `a~:__type(name:"x"){name kind}`, ``, ``, `}`},
	"nested fields":                    {`{__type(name:"x"){`, `ofType{`, `name`, `}`, `}}`},
	"nested __schema":                  {`{`, `__schema{`, `a`, `}`, `}`},
	"nested inline fragments":          {`{`, `...{a~:__typename `, ``, `}`, `}`},
	"fragments":                        {`{`, `...f~ `, `}`, `fragment f~ on Query{__typename}`, ``},
	"fragments and fields":             {`{`, `a~:__typename ...f~ `, `}`, `fragment f~ on Query{__typename}`, ``},
	"spreads":                          {`{`, `...f ...g `, ``, ``, `}fragment f on Query{__typename}fragment g on Query{__typename}`},
	"spreads in fields":                {`{`, `__schema{...f ...g}`, ``, ``, `}fragment f on __Schema{__typename}fragment g on __Schema{__typename}`},
	"chain of fragments":               {`{...f0}`, `fragment f~ on Query{...f^}`, `fragment f~ on Query{__typename}`, ``, ``},
	"chain to a large fragment":        {`{...f0}`, `fragment f~ on Query{...f^}`, `fragment f~ on Query{`, `a~:__typename `, `}`},
	"doubling fragments":               {`{...f0}`, `fragment f~ on Query{...f^ ...f^}`, `fragment f~ on Query{__typename}`, ``, ``},
	"cyclic fragments":                 {`{...f0}`, `fragment f~ on Query{...f^ ...f0 ...f1 ...f2 ...f3}`, `fragment f~ on Query{...f0}`, ``, ``},
	"operations":                       {``, `query q~{__typename}`, ``, ``, ``},
	"operations with a large fragment": {``, `query q~{...f}`, `fragment f on Query{`, `a~:__typename `, `}`},
	"operations with a deep fragment":  {``, `query q~{...f}`, `fragment f on Query{__type(name:"x"){ofType{ofType{ofType{ofType{ofType{ofType{name}}}}}}}}`, ``, ``},
	"variables":                        {`query(`, `$a~:Boolean=true `, `){`, `__typename@skip(if:$a~) `, `}`},
	"variables and values":             {`query(`, `$a~:Boolean=true `, `){__typename `, `@skip(if:$a~)`, `}`},
	"arguments":                        {`{getThread(`, `a~:1 `, `){id}getThread(`, `a~:1 `, `){id}}`},
	"directives":                       {`{__typename `, `@skip(if:false)`, ``, ``, `}`},
	"@defer":                           {`{`, `...@defer(label:"a~"){__typename}`, ``, ``, `}`},
	"unknown fields":                   {`{`, `a~ `, ``, ``, `}`},
	"long names":                       {`{`, `aaaaaaaaaaaaaaaaaaaa`, `}fragment f on `, `aaaaaaaaaaaaaaaaaaaa`, `{id}`},
	"list":                             {`{getThreads(userAccountId:"x",first:[`, `1,`, ``, ``, `]){id}}`},
	"nested list":                      {`query($a:[[[[[[[[[[[[[[[[[[[[Int]]]]]]]]]]]]]]]]]]]]=[[[[[[[[[[[[[[[[[[[[`, `1,`, ``, ``, `]]]]]]]]]]]]]]]]]]]]){getThreads(userAccountId:"x",first:$a){id}}`},
	"nested type":                      {`query($a:`, `[`, `Int`, `]`, `){getThreads(userAccountId:"x",first:$a){id}}`},
	"objects":                          {`{`, `getThread(threadId:{a:1,b:2,c:3}){id}`, ``, ``, `}`},
	"comments":                         {`{__typename}`, "#\n", ``, ``, ``},
	"block string":                     {`{__type(name:"""`, "\n a", ``, ``, `"""){name}}`},
	"pages":                            {`{`, `b~:getThreads(userAccountId:"x",first:^){...F}`, `}fragment F on Thread{`, `a~:id `, `}`},
}

const oneThread = `getThread(threadId:"x",userAccountId:"y")`

func (s shape) of(n int) string {
	var text strings.Builder
	numbered := func(part string, i int) {
		part = strings.ReplaceAll(part, "~", strconv.Itoa(i))
		text.WriteString(strings.ReplaceAll(part, "^", strconv.Itoa(i+1)))
	}
	text.WriteString(s.head)
	for i := range n {
		numbered(s.first, i)
	}
	numbered(s.middle, n)
	for i := range n {
		numbered(s.second, i)
	}
	text.WriteString(s.tail)
	return text.String()
}
