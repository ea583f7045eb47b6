// Uses the Go client of OpenAPI Generator as an app does, and prints each result.
package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	sounds "github.com/example/sounds"
)

// must returns the response of a call that must succeed.
func must[T any](answer T, _ *http.Response, err error) T {
	if err != nil {
		panic(err)
	}
	return answer
}

// failure prints the status, the code and the reason of a call that must fail.
func failure[T any](_ T, response *http.Response, err error) {
	var failed *sounds.GenericOpenAPIError
	if !errors.As(err, &failed) {
		panic(err)
	}
	reason := response.Header.Get("X-Error-Reason")
	if reason == "" {
		reason = "null"
	}
	model := failed.Model().(sounds.ApiErrorResponse)
	fmt.Println(response.StatusCode, model.Error.Code, reason)
}

func textOf(text *string) string {
	if text == nil {
		return "null"
	}
	return *text
}

// readNewer reads from a newer service, in which each enumeration has a value that this client does not know.
func readNewer(ctx context.Context, url string, id string) {
	configuration := sounds.NewConfiguration()
	configuration.Servers = sounds.ServerConfigurations{{URL: url}}
	api := sounds.NewAPIClient(configuration)

	fmt.Println("providers", len(must(api.ConfigAPI.GetAppConfig(ctx).Execute()).Data.IdTokenProviders))
	fmt.Println("source", must(api.MeAPI.GetCustomer(ctx).Execute()).Data.Source.IsSet())
	rules := false
	for _, section := range must(api.HomeAPI.GetHome(ctx).Execute()).Sections {
		rules = rules || section.RuleType.Get() != nil
	}
	fmt.Println("rules", rules)
	play := *sounds.NewOfflinePlay("7c9e6679-7425-40de-944b-e07fc1f90ae7", id, time.Now())
	plays := *sounds.NewPlaysRequest([]sounds.OfflinePlay{play})
	fmt.Println("plays", len(must(api.PlaysAPI.CountPlays(ctx).PlaysRequest(plays).Execute()).Data))
	fmt.Println("changes", len(must(api.CatalogueAPI.ListCatalogueChanges(ctx).Execute()).Data) > 0)
}

func main() {
	url, email, password, category, newer := os.Args[1], os.Args[2], os.Args[3], os.Args[4], os.Args[5]
	configuration := sounds.NewConfiguration()
	configuration.Servers = sounds.ServerConfigurations{{URL: url}}
	api := sounds.NewAPIClient(configuration)

	signIn := *sounds.NewSignInRequest(email, password)
	session := must(api.AuthAPI.SignIn(context.Background()).SignInRequest(signIn).Execute()).Data
	ctx := context.WithValue(context.Background(), sounds.ContextAccessToken, session.AccessToken)
	fmt.Println("signed in", textOf(session.User.Email.Get()))

	var ids []string
	for request := api.SoundsAPI.ListSounds(ctx).Category(category).Limit(2); ; {
		page := must(request.Execute())
		fmt.Println("page", len(page.Data))
		for _, sound := range page.Data {
			ids = append(ids, sound.Id)
		}
		cursor := page.NextCursor.Get()
		if cursor == nil {
			break
		}
		request = request.Cursor(*cursor)
	}
	fmt.Println("sounds", strings.Join(ids, " "))

	detail := must(api.SoundsAPI.GetSound(ctx, ids[0]).Execute()).Data
	fmt.Println("detail", detail.Id, detail.Title, detail.AudioUrlExpiresIn)
	fmt.Println("played", must(api.SoundsAPI.CountPlay(ctx, ids[0]).Execute()).Data.PlayCount)
	must(api.FavoritesAPI.AddFavorite(ctx).AddFavoriteRequest(*sounds.NewAddFavoriteRequest(ids[0])).Execute())
	for _, favorite := range must(api.FavoritesAPI.ListFavorites(ctx).Execute()).Data {
		fmt.Println("favorite", favorite.SoundId, favorite.Sounds.Get().Title)
	}

	var phone, clear sounds.UpdateCustomerRequest
	phone.SetPhone("+49 170 1234567")
	clear.SetFullNameNil()
	must(api.MeAPI.UpdateCustomer(ctx).UpdateCustomerRequest(phone).Execute())
	must(api.MeAPI.UpdateCustomer(ctx).UpdateCustomerRequest(clear).Execute())
	customer := must(api.MeAPI.GetCustomer(ctx).Execute()).Data
	fmt.Println("customer", textOf(customer.FullName.Get()), textOf(customer.Phone.Get()), *customer.Source.Get())

	failure(api.AuthAPI.SignIn(ctx).SignInRequest(*sounds.NewSignInRequest(email, "wrong")).Execute())
	verify := *sounds.NewVerifyRequest("signup", email, "12345678")
	verify.SetPassword(password)
	failure(api.AuthAPI.Verify(ctx).VerifyRequest(verify).Execute())
	failure(api.SoundsAPI.GetSound(ctx, "00000000-0000-4000-8000-000000000000").Execute())
	failure(api.AuthAPI.Recover(ctx).RecoverRequest(*sounds.NewRecoverRequest(email)).Execute())
	readNewer(ctx, newer, ids[0])
}
