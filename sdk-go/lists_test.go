package herald

import "testing"

func TestAListYieldsTheEntriesOfAllPagesAndItsFailureLast(t *testing.T) {
	server := answers(t, with(200, `{"items":[{"id":"a"},{"id":"b"}],"cursor":"x y"}`), with(200, `{"items":[],"cursor":"z"}`),
		with(200, `{"items":[{"id":"c"}],"cursor":null}`), problem(403, "organization_forbidden"))
	var ids string
	for user, err := range server.Users(t.Context(), "o") {
		if err != nil {
			t.Fatal(err)
		}
		ids += user.ID
	}
	if ids != "abc" || len(server.seen()) != 3 || server.seen()[1].path != "/base/admin/organizations/o/users?cursor=x%20y" {
		t.Errorf("%s, %+v", ids, server.seen())
	}
	var failures int
	for _, err := range server.Users(t.Context(), "o") {
		if CodeOf(err) != ErrorCodeOrganizationForbidden {
			t.Error(err)
		}
		failures++
	}
	if failures != 1 {
		t.Errorf("%d failures", failures)
	}
}

func TestAListThatIsLeftAsksForNoMorePages(t *testing.T) {
	server := answers(t, with(200, `{"items":[{"id":"a"},{"id":"b"}],"cursor":"x"}`))
	for range server.Users(t.Context(), "o") {
		break
	}
	if len(server.seen()) != 1 {
		t.Errorf("%d pages", len(server.seen()))
	}
}

func TestAPageMayBeOfWhatBeginsWithAText(t *testing.T) {
	page := with(200, `{"items":[],"cursor":null}`)
	server := answers(t, page, page)
	if _, err := server.ListUsers(t.Context(), "o", PageOptions{Prefix: "a&b/é", Limit: 2}); err != nil {
		t.Fatal(err)
	}
	if _, err := server.ListConversations(t.Context(), "o", PageOptions{Prefix: "a", Cursor: "x"}); err != nil {
		t.Fatal(err)
	}
	seen := server.seen()
	if seen[0].path != "/base/admin/organizations/o/users?limit=2&prefix=a%26b%2F%C3%A9" ||
		seen[1].path != "/base/admin/organizations/o/conversations?cursor=x&prefix=a" {
		t.Fatalf("%+v", seen)
	}
}
