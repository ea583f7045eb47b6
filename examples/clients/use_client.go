// Uses the Go client of OpenAPI Generator as an app does, and prints each result.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"

	sounds "github.com/example/sounds"
)

// must returns the response of a call that must succeed.
func must[T any](answer T, _ *http.Response, err error) T {
	if err != nil {
		panic(err)
	}
	return answer
}

// show prints that a call succeeded, or its status, its code and its reason.
func show[T any](name string, call func() (T, *http.Response, error)) {
	_, response, err := call()
	if err == nil {
		fmt.Println(name, "ok")
		return
	}
	var failed *sounds.GenericOpenAPIError
	if !errors.As(err, &failed) {
		panic(err)
	}
	reason := response.Header.Get("X-Error-Reason")
	if reason == "" {
		reason = "null"
	}
	fmt.Println(name, response.StatusCode, failed.Model().(sounds.ApiErrorResponse).Error.Code, reason)
}

func body[T any](text string) (value T) {
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		panic(err)
	}
	return value
}

func textOf(text *string) string {
	if text == nil {
		return "null"
	}
	return *text
}

func main() {
	url, email, password, category := os.Args[1], os.Args[2], os.Args[3], os.Args[4]
	configuration := sounds.NewConfiguration()
	configuration.Servers = sounds.ServerConfigurations{{URL: url}}
	api := sounds.NewAPIClient(configuration)
	signIn := *sounds.NewSignInRequest(email, password)
	session := must(api.AuthAPI.SignIn(context.Background()).SignInRequest(signIn).Execute()).Data
	ctx := context.WithValue(context.Background(), sounds.ContextAccessToken, session.AccessToken)
	fmt.Println("signed in", textOf(session.User.Email.Get()))

	for request := api.SoundsAPI.ListSounds(ctx).Category(category).Limit(2); ; {
		page := must(request.Execute())
		var titles []string
		for _, sound := range page.Data {
			titles = append(titles, sound.Title)
		}
		fmt.Println("page", strings.Join(titles, " "))
		cursor := page.NextCursor.Get()
		if cursor == nil {
			break
		}
		request = request.Cursor(*cursor)
	}

	var changes sounds.UpdateCustomerRequest
	changes.SetPhone("+49 170 1234567")
	changes.SetFullNameNil()
	must(api.MeAPI.UpdateCustomer(ctx).UpdateCustomerRequest(changes).Execute())
	customer := must(api.MeAPI.GetCustomer(ctx).Execute()).Data
	fmt.Println("customer", textOf(customer.FullName.Get()), textOf(customer.Phone.Get()))

	// EVERY CALL
}
