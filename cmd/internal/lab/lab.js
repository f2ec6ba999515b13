// Code generated from cmd/web/page/src by go generate. DO NOT EDIT.
function n(){return null}export{n as View};
