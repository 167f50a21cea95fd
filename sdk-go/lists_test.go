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
