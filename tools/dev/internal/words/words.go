// Package words puts an aggregate's name in the place of gadget, which templates have.
package words

import (
	"regexp"
	"strings"
)

// Of replaces gadget by the name.
func Of(name string) *strings.Replacer {
	title := strings.ToUpper(name[:1]) + name[1:]
	many := name + "s"
	switch {
	case strings.HasSuffix(name, "y") && !strings.ContainsAny(name[len(name)-2:len(name)-1], "aeiou"):
		many = name[:len(name)-1] + "ies"
	case regexp.MustCompile(`(s|x|z|ch|sh)$`).MatchString(name):
		many = name + "es"
	}
	article := "a"
	if strings.ContainsAny(name[:1], "aeiou") {
		article = "an"
	}
	return strings.NewReplacer(
		"gadgets", many, "Gadgets", strings.ToUpper(many[:1])+many[1:],
		"aGadget", article+title, "AGadget", strings.ToUpper(article[:1])+article[1:]+title,
		"a gadget", article+" "+name, "A gadget", strings.ToUpper(article[:1])+article[1:]+" "+name,
		"gadget", name, "Gadget", title,
	)
}
