package tasks

var AuthorOf = authorOf
